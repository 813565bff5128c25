"""Lays out what would lead a tool that edits files out of the workspace, then swaps a folder for a link again and again."""
import socket

answers, outside = GIVEN["answers"], GIVEN["outside"]
os.symlink(answers, "working/link")
os.symlink("/etc/passwd", "working/passwd")
os.symlink("..", "working/up")
os.symlink(outside, "working/out")
os.symlink("/", "working/root")
os.symlink("/proc/self/fd", "working/descriptors")
os.symlink(f"working/no/{'x' * 40}", "working/dangling")
os.mkfifo("working/fifo")
socket.socket(socket.AF_UNIX).bind("working/socket")
os.mkdir("working/folder")
with open("working/large", "wb") as file:
    file.truncate(1 << 30)
with open("working/plain", "w") as file:
    file.write("old")
os.link("working/plain", "working/second")
os.chmod("working/plain", 0o755)
os.mkdir("working/real")
os.symlink(outside, "working/away")
print("planted", flush=True)
until = time.monotonic() + GIVEN["seconds"]
swaps = 0
while time.monotonic() < until:
    # `swap` is a folder one moment and a link to the outside the next.
    try:
        os.rename("working/real", "working/swap")
        os.rename("working/swap", "working/real")
        os.rename("working/away", "working/swap")
        os.rename("working/swap", "working/away")
    except OSError:
        # A folder of the harness's own stands there now: it may do that.
        os.system("rm -rf working/swap")
    swaps += 1
print("swapped", swaps)
