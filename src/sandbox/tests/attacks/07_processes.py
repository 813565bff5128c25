"""Looks for other processes, and for words about the host in what /proc says of the own ones."""
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
attempt("many processes", lambda: pids if len(pids) > 6 else None)
attempt("harness", lambda: read("/proc/%d/cmdline" % GIVEN["harness"]) if GIVEN["harness"] > 1000 else None)
for pid in pids:
    for name in ["cmdline", "environ", "maps", "mountinfo", "comm", "cgroup", "status"]:
        def words():
            text = read_all("/proc/%d/%s" % (pid, name))
            return [word for word in GIVEN["words"] if word.encode() in text]
        def read_all(path):
            with open(path, "rb") as file:
                return file.read()
        attempt("%d/%s" % (pid, name), words)
for name in ["kcore", "kmsg", "keys", "timer_list", "interrupts", "modules", "slabinfo", "vmallocinfo", "kpagecgroup",
             "kpagecount", "kpageflags", "latency_stats", "sched_debug"]:
    def content():
        with open("/proc/" + name, "rb") as file:
            return file.read(16) or None
    attempt(name, content)


def addresses():
    with open("/proc/kallsyms") as file:
        told = [file.readline().split(" ")[0].strip("0") for _ in range(100)]
    return any(told) or None
attempt("kallsyms", addresses)
