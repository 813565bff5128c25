"""Takes memory without end, in four ways."""
import mmap, subprocess

case = GIVEN["case"]
if case == "heap":
    held = []
    while True:
        held.append(bytearray(b"x") * (8 << 20))
elif case == "shared":
    with open("/dev/shm/big", "wb+") as file:
        file.truncate(1 << 30)
        area = mmap.mmap(file.fileno(), 1 << 30)
        for at in range(0, 1 << 30, 4096):
            area[at] = 1
elif case == "tmp":
    with open("/tmp/big", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
elif case == "anonymous file":
    fd = os.memfd_create("big")
    while True:
        os.write(fd, b"x" * (1 << 20))
elif case == "children":
    if len(sys.argv) > 1:
        held = bytearray(b"x") * (90 << 20)
        time.sleep(5)
        sys.exit()
    children = [subprocess.Popen([sys.executable, __file__, "child"]) for _ in range(4)]
    codes = [child.wait() for child in children]
    sys.exit(1 if any(codes) else 0)
print("BROKEN", case)
