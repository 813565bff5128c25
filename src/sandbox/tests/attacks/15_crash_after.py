"""Writes a valid file and crashes."""
import signal

with open("submission/submission.csv", "w") as file:
    file.write("id,y\n1,2\n")
print("written", flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
