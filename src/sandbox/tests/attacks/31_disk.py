"""Fills whatever it may write, openly and by stealth."""
import mmap, socket

case, block = GIVEN["case"], b"x" * (1 << 20)


def forever(write):
    while True:
        write()


def fill(path, count=10_000):
    with open(path, "wb") as file:
        for _ in range(count):
            file.write(block)


if case == "one file":
    fill("working/big")
elif case == "many files":
    for number in range(10_000):
        fill("working/%d" % number, 1)
elif case == "home":
    fill(os.path.expanduser("~/big"))
elif case == "fallocate":
    for number in range(10_000):
        os.posix_fallocate(os.open("f%d" % number, os.O_CREAT | os.O_RDWR), 0, 64 << 20)
elif case == "empty files":
    for number in range(1_000_000):
        os.close(os.open("working/%d" % number, os.O_CREAT | os.O_WRONLY))
elif case == "folders":
    for number in range(1_000_000):
        os.mkdir("working/%d" % number)
elif case == "links":
    open("one", "w").close()
    for number in range(1_000_000):
        os.symlink("one", "working/%d" % number)
elif case == "unlinked":
    file = open("working/hidden", "wb")
    os.unlink("working/hidden")
    forever(lambda: file.write(block))
elif case == "temporary":
    fd = os.open("working", os.O_TMPFILE | os.O_RDWR)
    forever(lambda: os.write(fd, block))
elif case == "mapped":
    # Not even a descriptor holds it, only memory.
    areas = []
    for number in range(10_000):
        with open("m", "wb+") as file:
            file.write(block * 8)
            areas.append(mmap.mmap(file.fileno(), 8 << 20))
        os.unlink("m")
elif case == "another process":
    if os.fork() == 0:
        os.setsid()
        file = open("working/hidden", "wb")
        os.unlink("working/hidden")
        forever(lambda: file.write(block))
    os.closerange(0, 3)
    time.sleep(1000)
elif case == "thread":
    # A thread with descriptors of its own, which its process does not show.
    import threading

    def write():
        call(272, 0x400)  # unshare(CLONE_FILES) is refused with the rest of unshare; then it is an ordinary thread
    def hidden():
        try:
            write()
        except OSError:
            pass
        file = open("working/hidden", "wb")
        os.unlink("working/hidden")
        forever(lambda: file.write(block))
    thread = threading.Thread(target=hidden)
    thread.start()
    thread.join()
elif case == "deep":
    # Below the reach of any path.
    for _ in range(400):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    fill("big")
elif case == "shut":
    os.makedirs("outer/inner")
    inner = os.open("outer/inner", os.O_RDONLY)
    os.chmod("outer", 0)
    fd = os.open("big", os.O_CREAT | os.O_WRONLY, dir_fd=inner)
    forever(lambda: os.write(fd, block))
elif case == "in flight":
    # The only holder is a message that nobody reads.
    pairs = []
    for number in range(1_000):
        if number % 50 == 0:
            pairs.append(socket.socketpair())
        file = os.open("working/hidden", os.O_CREAT | os.O_RDWR)
        os.unlink("working/hidden")
        socket.send_fds(pairs[-1][0], [b"x"], [file])
        try:
            for _ in range(4):
                os.write(file, block)
                time.sleep(0.005)
        except OSError:
            time.sleep(1000)
        os.close(file)
elif case in ("/tmp", "/dev/shm"):
    def write():
        fill(case + "/big")
        return "written"
    attempt(case, write)
    sys.exit()
print("BROKEN", case)
