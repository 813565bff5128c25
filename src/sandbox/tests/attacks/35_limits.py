"""Raises its own limits."""
import resource

for name in ["RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_RTPRIO", "RLIMIT_NICE"]:
    kind = getattr(resource, name, {"RLIMIT_NICE": 13, "RLIMIT_RTPRIO": 14}.get(name))
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY and name == "RLIMIT_NPROC":
        continue  # the control group holds it
    attempt(name, lambda: resource.setrlimit(kind, (hard + 1, hard + 1)) or "raised")
    attempt(name + " without end", lambda: resource.setrlimit(kind, (-1, -1)) or "raised")
    attempt(name + " of the first process", lambda: resource.prlimit(1, kind, (hard + 1, hard + 1)) and "raised")
attempt("nice", lambda: os.nice(-5))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10) or "set")
for name, policy in [("fifo", os.SCHED_FIFO), ("round robin", os.SCHED_RR)]:
    attempt(name, lambda: os.sched_setscheduler(0, policy, os.sched_param(10)) or "set")
attempt("deadline", lambda: call(314, 0, ctypes.create_string_buffer(bytes([48]) + b"\0" * 3 + bytes([6]) + b"\0" * 43), 0))
attempt("oom score", lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
attempt("cgroup", lambda: [path for path in ["/sys/fs/cgroup"] if os.path.isdir(path) and os.access(path, os.W_OK)])
