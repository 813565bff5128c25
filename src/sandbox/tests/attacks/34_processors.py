"""Keeps sixty-four processes busy, on every processor there is."""
try:
    os.sched_setaffinity(0, range(1024))
except OSError:
    pass
allowed = len(os.sched_getaffinity(0))
attempt("affinity", lambda: allowed if allowed > GIVEN["cpus"] else None)
end = time.time() + GIVEN["seconds"]
children = []
for _ in range(64):
    child = os.fork()
    if child == 0:
        while time.time() < end:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print("done", flush=True)
