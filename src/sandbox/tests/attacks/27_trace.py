"""Traces, reads and robs other processes."""
if os.uname().machine != "x86_64":
    print("held not x86_64")
    sys.exit()
# A container's first process is its own affair; a jail's is bubblewrap.
for pid in ([1, os.getppid()] if GIVEN["first"] else []) + [GIVEN["harness"]]:
    attempt("ptrace attach %d" % pid, lambda: call(101, 16, pid, 0, 0))
    attempt("ptrace seize %d" % pid, lambda: call(101, 0x4206, pid, 0, 0))
    attempt("process_vm_readv %d" % pid, lambda: call(310, pid, None, 0, None, 0, 0))
    attempt("process_vm_writev %d" % pid, lambda: call(311, pid, None, 0, None, 0, 0))
    attempt("mem %d" % pid, lambda: open("/proc/%d/mem" % pid, "rb+"))
    attempt("pidfd_getfd %d" % pid, lambda: call(438, os.pidfd_open(pid), 1, 0))
    attempt("kcmp %d" % pid, lambda: call(312, pid, os.getpid(), 0, 0, 0))
attempt("process_madvise", lambda: call(440, 0, None, 0, 0, 0))
