def reseed(hidden):
    """Fresh randomness, where an import took some. `random` sees to itself after a fork."""
    mtrand = hidden.modules.get("numpy.random.mtrand")
    if mtrand is not None:
        mtrand.seed()
    process = hidden.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)


GO = b"go"


class Declined(Exception):
    """This program has to start cold; others need not."""


def become_program(kernel, hidden, request, report, filters):
    """The second child: everything between the fork and the script. Nothing of the server may be left."""
    os.setsid()
    for group in request["groups"]:
        os.write(group, b"0")
    os.sched_setaffinity(0, request["cpus"])
    kernel.drop_capabilities()
    # Changing credentials clears both.
    kernel.check("PR_SET_DUMPABLE", kernel.prctl(kernel.DUMPABLE, 1))
    kernel.check("PR_SET_PDEATHSIG", kernel.prctl(kernel.PDEATHSIG, signal.SIGKILL))
    if os.getppid() != 0:
        raise RuntimeError("not in a PID namespace of its own")
    for which, limit in request["rlimits"]:
        hard = resource.getrlimit(which)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(which, (limit, limit))
    os.chdir(WORKSPACE)
    os.dup2(request["output"], 1)
    os.dup2(request["output"], 2)
    for program in filters:
        kernel.install_filter(program)
    report.send(b"waiting")
    # Nothing of the workspace has been looked at: what is in it comes until then.
    if report.recv(len(GO)) != GO:
        os._exit(70)  # The harness is gone, or has no use for it.
    shadows = {entry.partition(".")[0] for entry in os.listdir(".")} & hidden.top_level
    if shadows:
        raise Declined(f"the workspace has its own `{sorted(shadows)[0]}`")
    reseed(hidden)
    report.send(b"ready")
    report.detach()
    kernel.close_from(3)


def enter_jail(kernel, request):
    """The first child joins all namespaces of the jail; the PID namespace is for its children only."""
    user, pid, *others = request["namespaces"]
    owner = kernel.user_of(others[0])
    kernel.enter(owner)
    kernel.enter(pid)
    for namespace in others:
        kernel.enter(namespace)
    if os.fstat(owner).st_ino != os.fstat(user).st_ino:
        kernel.enter(user)


def rights(number):
    """A descriptor, to be sent beside a message."""
    return [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number.to_bytes(4, sys.byteorder))]


def stand_by(report, child):
    """Tells of the program's end, and reaps it when the harness lets go or is gone."""
    # Not before: the harness signals the process group by its number.
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    code = ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status
    try:
        report.send(b"ended %d" % code)
        while report.recv(len(GO)) == GO:
            pass  # It ended before it had read that.
    except OSError:
        pass
    # Left to whoever adopts it, it would hold up the end of its jail for as long as that one takes.
    os.waitpid(child, 0)


def serve_one(kernel, hidden, request, filters):
    """The first child. Returns in the second, the program; the first ends here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    report = _socket.socket(fileno=request["report"])
    try:
        this = kernel.open_process(os.getpid())
        enter_jail(kernel, request)
        child = os.fork()
        if child == 0:
            become_program(kernel, hidden, request, report, filters)
            return
        for number in [request["output"], *request["groups"], *request["namespaces"]]:
            os.close(number)
        report.sendmsg([b"pid %d" % child], rights(this))
        os.close(this)
        stand_by(report, child)
    except BaseException as error:
        # Whatever happens here, an interpreter that is not quite in its jail must not go on to the script.
        try:
            word = b"declined " if isinstance(error, Declined) else b"failed "
            report.send(word + str(error).encode("utf-8", "replace")[:300])
        finally:
            os._exit(70)
    os._exit(0)


def parse(data, numbers):
    """Lines of a word and numbers; descriptors come beside them, in the order of the words that count them."""
    request = {"rlimits": []}
    numbers = iter(numbers)
    for line in data.decode().splitlines():
        word, *values = line.split()
        values = [int(value) for value in values]
        if word == "rlimit":
            request["rlimits"].append(values)
        elif word == "cpus":
            request["cpus"] = values
        else:
            taken = [next(numbers) for _ in range(values[0])]
            request[word] = taken if word in ("namespaces", "groups") else taken[0]
    return request


def hear(call, *arguments):
    """A call of the socket to the harness. Without a harness there is nothing to serve for."""
    try:
        return call(*arguments)
    except OSError:
        os._exit(0)


def serve(hidden):
    """Waits for requests. Returns in the process that is to run a script; never in the server."""
    def reap(*_):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    kernel = Kernel()
    filters = [kernel.prepare_filter(code) for code in FILTERS]
    signal.signal(signal.SIGCHLD, reap)
    control = _socket.socket(fileno=CONTROL)
    namespace = os.open("/proc/self/ns/user", os.O_RDONLY)
    hear(control.sendmsg, [b"ready"], rights(namespace))
    os.close(namespace)
    while True:
        data, ancillary, _, _ = hear(control.recvmsg, 1 << 16, _socket.CMSG_SPACE(4 * 64), _socket.MSG_CMSG_CLOEXEC)
        if not data:
            os._exit(0)
        numbers = []
        for _, kind, content in ancillary:
            if kind == _socket.SCM_RIGHTS:
                numbers += [int.from_bytes(content[at : at + 4], sys.byteorder) for at in range(0, len(content), 4)]
        request = parse(data, numbers)
        child = os.fork()
        if child == 0:
            control.detach()
            os.close(CONTROL)
            return serve_one(kernel, hidden, request, filters)
        for number in numbers:
            os.close(number)


try:
    shadowed = run_shadowed()
    base = set(sys.modules)
    recorder = Recorder()
    with recorder:
        import atexit
        import ctypes
        import gc
        import importlib
        import os
        import resource
        import signal
        import weakref

        import _socket
    # The first to be registered is the last to run.
    atexit.register(lambda: ending.leave())
    blank_search_path()
    import_all(recorder)
    recorder.note_shared()
    check_state()
    hidden = Hidden(base, recorder)
    ending = Ending(hidden)
    gc.collect()
    # A collection in a copy would otherwise touch, and so copy, every page.
    gc.freeze()
    ending.thaw_program()
except BaseException as error:
    _socket.socket(fileno=CONTROL).send(b"failed " + f"{type(error).__name__}: {error}".encode()[:300])
    os._exit(1)
serve(hidden)
sys.meta_path.insert(0, hidden)
if not shadowed:
    raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
