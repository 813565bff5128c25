"""Does not end: stops itself, loops, blocks, sleeps; and ignores what can be ignored."""
import signal, threading

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
print("on", flush=True)
case = GIVEN["case"]
if case == "loop":
    while True:
        pass
elif case == "stopped":
    os.kill(os.getpid(), signal.SIGSTOP)
elif case == "blocked":
    os.read(os.pipe()[0], 1)
elif case == "thread":
    thread = threading.Thread(target=time.sleep, args=(1000,))
    thread.start()
    thread.join()
elif case == "library":
    # In C, where no Python handler ever runs.
    ctypes.CDLL(None).pause() if False else ctypes.PyDLL(None).sleep(1000)
elif case == "closed":
    os.close(1)
    os.close(2)
    time.sleep(1000)
