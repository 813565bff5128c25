"""Kills and stops whatever it can address."""
import signal

attempt("harness", lambda: os.kill(GIVEN["harness"], signal.SIGKILL) or "killed")
attempt("group of the harness", lambda: os.killpg(GIVEN["harness"], signal.SIGKILL) or "killed")
for number in [signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL]:
    try:
        # The parent of a program that started warm is outside; 0 would be the own group.
        os.kill(os.getppid() or 1, number)
    except OSError:
        pass
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("still here", flush=True)
