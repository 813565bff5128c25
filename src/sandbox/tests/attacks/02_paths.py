"""Opens the answers by their path on the host, and by every detour to it."""
path = GIVEN["path"]
detours = ["", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../../../../../..", "/proc/1/cwd/../../../..",
           "/workspace/../../../../../..", "/tmp/../..", "/proc/self/task/%d/root" % os.getpid(), "/dev/fd/0/../../.."]
for detour in detours:
    attempt(detour or "direct", lambda: read(detour + path))
up = "../" * 20 + path.lstrip("/")
attempt("relative", lambda: read(up))
attempt("input", lambda: read("input/" + up))
os.symlink(path, "link")
attempt("link", lambda: read("link"))
root = os.open("/", os.O_RDONLY)
attempt("descriptor", lambda: os.read(os.open(up, os.O_RDONLY, dir_fd=root), 10))
# A directory kept open across a chroot, the classic way out: there is no chroot.
attempt("chroot", lambda: (os.mkdir("c"), os.chroot("c"), os.fchdir(root), read(up)))
