"""Lists its own descriptors, and those of a child: nothing was inherited."""
import subprocess

listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)))"
own = sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name))
attempt("own", lambda: [fd for fd in own if fd > 2 and not os.readlink("/proc/self/fd/%d" % fd).startswith("/proc/")] or None)
child = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, close_fds=False).stdout
attempt("child", lambda: child if child.strip() != "[0, 1, 2]" else None)
# The first process is not ours; of its descriptors only those without a way to anywhere are its own.
harmless = ("/dev/null", "anon_inode:[eventfd]", "anon_inode:[signalfd]", "pipe:")


def leads_somewhere(path):
    link = os.readlink(path)
    if link.startswith("socket:"):
        try:
            os.close(os.open(path, os.O_RDWR))
        except OSError:
            return False
    return not link.startswith(harmless)
attempt("first process", lambda: [os.readlink(path) for path in ("/proc/1/fd/" + fd for fd in os.listdir("/proc/1/fd"))
                                  if leads_somewhere(path)])
