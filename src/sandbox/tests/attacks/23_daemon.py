"""Leaves daemons that ignore every signal they can, in sessions of their own, one with the output pipe open."""
import signal, subprocess

for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGQUIT):
                signal.signal(ignored, signal.SIG_IGN)
            if number:
                null = os.open(os.devnull, os.O_RDWR)
                for fd in range(3):
                    os.dup2(null, fd)
            os.execvp("sleep", ["sleep", GIVEN["mark"]])
        os._exit(0)
subprocess.Popen(["sleep", GIVEN["mark"]])
time.sleep(0.3)
print("left", flush=True)
if GIVEN["stay"]:
    time.sleep(1000)
