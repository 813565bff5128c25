"""Tries to become more than it is."""
import fcntl, shutil, stat, subprocess

attempt("setuid", lambda: os.setuid(0) or "root")
attempt("setgid", lambda: os.setgid(0) or "root")
attempt("setgroups", lambda: os.setgroups([0]) or "set")
attempt("root already", lambda: "root" if 0 in (os.getuid(), os.geteuid()) else None)
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
attempt("capabilities", lambda: [name for name in ("CapEff", "CapPrm", "CapInh", "CapAmb") if int(status[name], 16)])
attempt("new privileges", lambda: "possible" if status["NoNewPrivs"].strip() != "1" else None)
attempt("no filter", lambda: "off" if status["Seccomp"].strip() != "2" else None)
for program in ["su", "sudo", "mount", "passwd", "newuidmap", "pkexec", "fusermount"]:
    path = shutil.which(program)
    if path and os.stat(path).st_mode & stat.S_ISUID:
        check = "import os; print(os.geteuid())"
        attempt("set-uid " + program, lambda: subprocess.run([path, "-c", "id -u"], stdin=subprocess.DEVNULL,
                                                            capture_output=True, text=True).stdout.strip() == "0")
attempt("unshare", lambda: subprocess.run(["unshare", "-Ur", "id"], capture_output=True, check=True) and "unshared")
attempt("chroot", lambda: os.chroot("/tmp") or "moved")

# A file that runs as its owner: the workspace is the host's, where the owner is the harness.
open("plain", "w").close()
for name, mode in [("set-uid", 0o4755), ("set-gid", 0o2755), ("both", 0o6777)]:
    attempt("chmod " + name, lambda: os.chmod("plain", mode) or "changed")
    attempt("fchmod " + name, lambda: os.fchmod(os.open("plain", os.O_RDWR), mode) or "changed")
    attempt("fchmodat " + name, lambda: os.chmod("plain", mode, dir_fd=os.open(".", os.O_RDONLY)) or "changed")
    attempt("mknod " + name, lambda: os.mknod("made " + name, stat.S_IFREG | mode) or "made")
    attempt("open " + name, lambda: os.open("opened " + name, os.O_CREAT | os.O_WRONLY, mode))
    attempt("temporary " + name, lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, mode))
    attempt("mkdir " + name, lambda: os.mkdir("d " + name, mode) or os.stat("d " + name).st_mode & 0o6000 or None)
attempt("bits", lambda: [entry for entry in os.listdir(".") if os.lstat(entry).st_mode & 0o6000])
# Plain modes are everybody's business.
os.chmod("plain", 0o640)
os.close(os.open("ordinary", os.O_CREAT | os.O_WRONLY, 0o644))
print("plain modes work")

if os.uname().machine == "x86_64":
    new = 0x10000000
    for name, number in dict(unshare=272, setns=308, mount=165, umount=166, pivot_root=155, chroot=161, keyctl=250, add_key=248,
                             request_key=249, bpf=321, userfaultfd=323, perf_event_open=298, kexec_load=246, init_module=175,
                             delete_module=176, open_by_handle_at=304, open_tree=428, move_mount=429, fsopen=430, fspick=433,
                             fsmount=432, mount_setattr=442, reboot=169, swapon=167, acct=163, syslog=103, fanotify_init=300,
                             quotactl=179, settimeofday=164, clock_settime=227, adjtimex=159, sethostname=170,
                             chmod=90, creat=85, fchmodat2=452).items():
        arguments = {"chmod": (b"plain", 0o4755), "creat": (b"created", 0o4755), "fchmodat2": (-100, b"plain", 0o4755, 0),
                     "settimeofday": (b"\0" * 16, None), "adjtimex": (b"\1" + b"\0" * 300,)}.get(name, (new, 0, 0, 0, 0, 0))
        def refused():
            try:
                return call(number, *arguments)
            except PermissionError:
                raise
            except OSError as error:
                return error
        attempt(name, refused)
    attempt("clone", lambda: call(56, new | 17, 0, 0, 0, 0))
    attempt("clone3", lambda: call(435, 0, 0))
    attempt("openat2", lambda: call(437, -100, b"plain", ctypes.create_string_buffer(24), 24))
    # Refused, or the end of whoever tries.
    def other_numbers():
        child = os.fork()
        if child == 0:
            os._exit(0 if LIBC.syscall(0x40000000 | 39) > 0 else 1)
        return "worked" if os.waitpid(child, 0)[1] == 0 else None
    attempt("x32", other_numbers)
attempt("terminal", lambda: fcntl.ioctl(0, 0x5412, b"x"))
