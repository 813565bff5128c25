"""Writes to what is shared: the data, the interpreter and its packages, the system."""
import shutil, site, sysconfig


def write(path):
    with open(path, "ab") as file:
        file.write(b"# changed\n")
    return "written"


shared = {"data": "input/train.csv", "interpreter": os.path.realpath(sys.executable), "library": os.__file__,
          "shell": "/bin/sh", "libc": "/etc/ld.so.cache", "passwd": "/etc/passwd"}
for name, path in shared.items():
    attempt("append to " + name, lambda: write(path))
    attempt("truncate " + name, lambda: os.truncate(path, 0) or "truncated")
    attempt("remove " + name, lambda: os.unlink(path) or "removed")
    attempt("rename " + name, lambda: os.rename(path, path + ".old") or "renamed")
    attempt("touch " + name, lambda: os.utime(path) or "touched")
    attempt("mode of " + name, lambda: os.chmod(path, 0o666) or "changed")
    attempt("attribute of " + name, lambda: os.setxattr(path, "user.x", b"1") or "set")
for name, folder in {"data": "input", "packages": sysconfig.get_paths()["purelib"], "library": os.path.dirname(os.__file__),
                     "prefix": sys.prefix, "programs": "/usr/bin", "local": "/usr/local/lib", "root": "/", "opt": "/opt",
                     "etc": "/etc", "dev": "/dev", "sys": "/sys"}.items():
    attempt("new in " + name, lambda: write(os.path.join(folder, "new.py")))
    attempt("folder in " + name, lambda: os.mkdir(os.path.join(folder, "new")) or "made")
for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/domainname", "/proc/sys/vm/drop_caches",
             "/proc/sysrq-trigger", "/proc/1/oom_score_adj", "/sys/kernel/mm/transparent_hugepage/enabled"]:
    attempt(path, lambda: write(path))
# What it owns works, so that the rest was refused for the right reason.
for path in ["own", "submission/own", "working/own", "/tmp/own", "/dev/shm/own", os.path.expanduser("~/own")]:
    print("own", write(path))
