"""The fork server: imports heavy packages once, then gives each execution a fresh copy of itself.

It is placed as `sitecustomize` in the search path of an interpreter that was started exactly like the one of an
execution: same command line, environment, folder and file system. So it runs while the interpreter starts up, before
anything of the script. The parent never leaves this file: it waits for requests. A child that is ready leaves it as if
no `sitecustomize` had been found, and the interpreter goes on to run the script by itself, in the ordinary way.

The process is outside of every execution's jail and never sees what runs there. It has no secret: its environment is
that of an execution, and a request holds descriptors and numbers only. Its own view of the files is read-only, which
matters: `/proc/self/exe` of its children leads to it.

A request is forked twice. The first child enters the namespaces of the jail, stays outside of its PID namespace, and
tells the harness of the end; the second is the program.

Modules that were imported here are hidden until the script imports them. Then they appear with all that their own
import had brought (modules, attributes of packages, warning filters, environment variables), and nothing else does.

The harness puts these before this text: CONTROL, the number of the socket to the harness; FOLDER, where this file is;
WORKSPACE, the working folder of a program; IMPORTS, names to import; FILTERS, system call filters as bytes.
"""

import sys

sys.path.remove(FOLDER)
sys.path_importer_cache.pop(FOLDER, None)


def blank_search_path():
    """Takes the variable by which this file was found out of the environment, out of `/proc/self/environ` as well."""
    entry = b"PYTHONPATH=" + os.fsencode(os.environ["PYTHONPATH"]) + b"\0"
    del os.environ["PYTHONPATH"]
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    at = ctypes.string_at(start, end - start).find(entry)
    if at < 0:
        raise RuntimeError("the environment is not where the kernel says")
    ctypes.memset(start + at, 0, len(entry))


def run_shadowed():
    """Runs the `sitecustomize` that this one stands before, if there is one. True when there is."""
    spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec("sitecustomize")
    if spec is None:
        return False
    module = sys.modules["_frozen_importlib"].module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
    return True


class Recorder:
    """While it is in force, notes which module brings which others, and what else its import changes."""

    def __init__(self):
        self.needs = {}
        self.stack = []
        self.known = set(sys.modules)
        # Which module added a warning filter, or an environment variable as a pair of name and value.
        self.owners = {}
        self.base_filters = list(current_filters())
        self.seen = list(self.base_filters)
        self.environ = sys.modules["os"].environ
        self.base_environ = {name: value for name, value in self.environ.items() if name != "PYTHONPATH"}
        self.builtins = sys.modules["builtins"]
        self.bootstrap = sys.modules["_frozen_importlib"]

    def __enter__(self):
        self.load, self.ask = self.bootstrap._load_unlocked, self.builtins.__import__
        self.bootstrap._load_unlocked, self.builtins.__import__ = self.loading, self.asking
        return self

    def __exit__(self, *_):
        self.bootstrap._load_unlocked, self.builtins.__import__ = self.load, self.ask

    def loading(self, spec):
        """A module is loaded for the first time, by whichever is being loaded now."""
        if self.stack:
            self.note_changes(self.stack[-1])
            self.need(self.stack[-1], spec.name)
        self.stack.append(spec.name)
        try:
            return self.load(spec)
        finally:
            self.note_changes(self.stack.pop())

    def asking(self, name, globals=None, locals=None, fromlist=(), level=0):
        """An import statement, which most often finds what is loaded already. Whosever statement it is: it is part of
        what happens while the topmost module is loaded."""
        result = self.ask(name, globals, locals, fromlist, level)
        if self.stack:
            full = name
            if level:
                package = globals.get("__package__") or globals["__name__"]
                full = package.rsplit(".", level - 1)[0] + ("." + name if name else "")
            for brought in [full, *(f"{full}.{item}" for item in fromlist or ())]:
                self.need(self.stack[-1], brought)
        return result

    def need(self, importer, name):
        self.needs.setdefault(importer, {})[name] = None

    def note_changes(self, owner):
        # Extensions put modules of their own making beside themselves.
        for name in sys.modules.keys() - self.known:
            self.need(owner, name)
        self.known.update(sys.modules)
        filters = current_filters()
        if filters != self.seen:
            self.seen = list(filters)
            for item in filters:
                self.owners.setdefault(item, owner)
        for item in self.environ.items() - self.base_environ.items():
            self.owners.setdefault(item, owner)


def current_filters():
    return (sys.modules.get("warnings") or sys.modules["_warnings"]).filters


def set_filters(filters):
    """Replaces the warning filters in place."""
    module = sys.modules.get("warnings") or sys.modules["_warnings"]
    module.filters[:] = filters
    for name in ("_filters_mutated", "_filters_mutated_lock_held"):
        for place in (module, sys.modules["_warnings"]):
            mutated = getattr(place, name, None)
            if mutated:
                try:
                    return mutated()
                except RuntimeError:
                    with place._lock:
                        return mutated()


class Hidden:
    """What was imported and is not shown yet; a finder and a loader of modules."""

    def __init__(self, base, recorder):
        self.modules = {name: module for name, module in sys.modules.items() if name not in base}
        # Without second names of what is not hidden, as `__mp_main__` is one of the script.
        shown = {id(sys.modules[name]) for name in base if name in sys.modules}
        self.all = {name: module for name, module in self.modules.items() if id(module) not in shown}
        self.names = dict.fromkeys(self.modules)
        self.needs = recorder.needs
        self.owners = recorder.owners
        self.environ = recorder.environ
        self.variables = self.environ.items() - recorder.base_environ.items()
        if recorder.base_environ.keys() - self.environ.keys():
            raise RuntimeError("the imports take environment variables away")
        for name, _ in self.variables:
            del self.environ[name]
        self.environ.update(recorder.base_environ)
        # Front to back; a filter that an import had only for a while is not there any more.
        self.filters = [item for item in current_filters() if item not in recorder.base_filters]
        self.set_filters = set_filters
        set_filters(recorder.base_filters)
        packages = {name.rpartition(".")[0] for name in self.modules} | set(IMPORTS)
        self.closures = {name: self.closure(name) for name in packages & self.modules.keys()}
        for name, module in self.modules.items():
            del sys.modules[name]
        # An attribute that comes whenever its package does may stay.
        self.attributes = {}
        for name, module in self.modules.items():
            parent, _, leaf = name.rpartition(".")
            package = self.modules.get(parent) or sys.modules.get(parent)
            if package is not None and vars(package).get(leaf) is module and name not in self.closures.get(parent, ()):
                self.attributes[name] = (package, leaf)
                delattr(package, leaf)
        # Those that scripts ask for; the rest is found out again when it is needed.
        self.closures = {name: names for name, names in self.closures.items() if name in IMPORTS}
        self.specs = {}
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.all))

    def closure(self, wanted):
        """Names of a module, its packages and all that its import brings, in the order in which they came."""
        pending, found = [wanted], set()
        while pending:
            name = pending.pop()
            if name in self.names and name not in found:
                found.add(name)
                pending.append(name.rpartition(".")[0])
                pending.extend(self.needs.get(name, ()))
        return [name for name in self.names if name in found]

    def leave(self):
        """At the very end, after all that a script registered: keeps the interpreter from taking these modules apart
        one by one, by which it would copy every page it shares with the server."""
        for name, module in self.all.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        self.modules.clear()

    def top_level(self):
        return {name.partition(".")[0] for name in self.modules}

    def find_spec(self, name, path=None, target=None):
        module = self.modules.get(name)
        real = getattr(module, "__spec__", None)
        if real is None:
            return None
        spec = type(real)(name, self, origin=real.origin, is_package=real.submodule_search_locations is not None)
        spec.submodule_search_locations = real.submodule_search_locations
        spec.has_location = real.has_location
        spec.cached = real.cached
        return spec

    def create_module(self, spec):
        self.specs[spec.name] = self.modules[spec.name].__spec__
        return self.show(spec.name)

    def exec_module(self, module):
        module.__spec__ = self.specs.pop(module.__spec__.name)

    def show(self, wanted):
        """Shows a module and all that its import brings; returns it."""
        names = self.closures.get(wanted) or self.closure(wanted)
        result = self.modules[wanted]
        for name in names:
            module = self.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
                if name in self.attributes:
                    package, leaf = self.attributes.pop(name)
                    vars(package).setdefault(leaf, module)
        found = set(names) if self.filters or self.variables else ()
        added = [item for item in self.filters if self.owners.get(item) in found]
        if added:
            self.filters = [item for item in self.filters if item not in added]
            self.set_filters(added + [item for item in current_filters() if item not in added])
        for name, value in self.variables:
            if self.owners.get((name, value)) in found:
                self.environ.setdefault(name, value)
        return result


def import_all(recorder):
    """Imports what there is of the profile. Whatever an import prints would be missing later, so it must be silent."""
    kept = [os.dup(1), os.dup(2)]
    memory = os.memfd_create("said", os.MFD_CLOEXEC)
    os.dup2(memory, 1)
    os.dup2(memory, 2)
    try:
        with recorder:
            for name in IMPORTS:
                try:
                    importlib.import_module(name)
                except ModuleNotFoundError as error:
                    if error.name is None or not (name + ".").startswith(error.name + "."):
                        raise
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        said = os.pread(memory, 300, 0)
        for number in [memory, *kept]:
            os.close(number)
    if said:
        raise RuntimeError(f"the imports print {said!r}")


def check_state():
    """Refuses what a copy of this process could not carry: threads, open files, work left for the end."""
    # Numeric libraries end their threads when the process forks; the copy starts them again when it needs them.
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    threads = os.listdir("/proc/self/task")
    if len(threads) != 1:
        raise RuntimeError(f"the imports leave {len(threads)} threads")
    numbers = {int(name) for name in os.listdir("/proc/self/fd")}
    # One more was open while the folder was listed.
    extra = {number for number in numbers - {0, 1, 2, CONTROL} if is_open(number)}
    if extra:
        raise RuntimeError(f"the imports leave {len(extra)} files open")
    util = sys.modules.get("multiprocessing.util")
    if util is not None and util._finalizer_registry:
        raise RuntimeError("the imports leave work for the end")


def is_open(number):
    try:
        os.fstat(number)
        return True
    except OSError:
        return False


class Kernel:
    """System calls that Python has no function for."""

    USER_OF_NAMESPACE = 0xB701  # NS_GET_USERNS
    CLOSE_RANGE = 436
    PDEATHSIG, DUMPABLE, SECCOMP, CAPBSET_DROP, NO_NEW_PRIVS, AMBIENT = 1, 4, 22, 24, 38, 47

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)

    def check(self, what, result):
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: errno {number}")
        return result

    def prctl(self, *arguments):
        words = [ctypes.c_ulong(argument) for argument in arguments[1:]]
        words += [ctypes.c_ulong(0)] * (4 - len(words))
        return self.libc.prctl(arguments[0], *words)

    def enter(self, namespace):
        self.check("setns", self.libc.setns(namespace, 0))

    def user_of(self, namespace):
        return self.check("NS_GET_USERNS", self.libc.ioctl(namespace, ctypes.c_ulong(self.USER_OF_NAMESPACE)))

    def drop_capabilities(self):
        self.check("PR_CAP_AMBIENT", self.prctl(self.AMBIENT, 4))
        capability = 0
        while self.prctl(self.CAPBSET_DROP, capability) == 0:
            capability += 1
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        self.check("capset", self.libc.capset(header, (ctypes.c_uint32 * 6)()))
        self.check("PR_SET_NO_NEW_PRIVS", self.prctl(self.NO_NEW_PRIVS, 1))

    def close_from(self, first):
        word = ctypes.c_ulong
        self.check("close_range", self.libc.syscall(word(self.CLOSE_RANGE), word(first), word(0xFFFFFFFF), word(0)))

    def prepare_filter(self, code):
        """The two structures that the kernel wants, which must live until then."""

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

        return Program(len(code) // 8, code)

    def install_filter(self, program):
        self.check("PR_SET_SECCOMP", self.prctl(self.SECCOMP, 2, ctypes.addressof(program)))


def reseed(hidden):
    """Fresh randomness, where an import took some. `random` sees to itself after a fork."""
    mtrand = hidden.modules.get("numpy.random.mtrand")
    if mtrand is not None:
        mtrand.seed()
    process = hidden.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)


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
    shadows = {entry.partition(".")[0] for entry in os.listdir(".")} & hidden.top_level()
    if shadows:
        raise RuntimeError(f"the workspace has its own `{sorted(shadows)[0]}`")
    reseed(hidden)
    os.dup2(request["output"], 1)
    os.dup2(request["output"], 2)
    for program in filters:
        kernel.install_filter(program)
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


def serve_one(kernel, hidden, request, filters):
    """The first child. Returns in the second, the program; the first ends here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    report = _socket.socket(fileno=request["report"])
    try:
        enter_jail(kernel, request)
        child = os.fork()
        if child == 0:
            become_program(kernel, hidden, request, report, filters)
            return
        for number in [request["output"], *request["groups"], *request["namespaces"]]:
            os.close(number)
        report.send(b"pid %d" % child)
        # Not reaped before the harness lets go: it signals the process group by its number.
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        code = ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status
        report.send(b"ended %d" % code)
        report.recv(1)
    except BaseException as error:
        try:
            report.send(b"failed " + str(error).encode()[:300])
        except OSError:
            pass  # The harness is gone.
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
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, namespace.to_bytes(4, sys.byteorder))]
    control.sendmsg([b"ready"], rights)
    os.close(namespace)
    while True:
        data, ancillary, _, _ = control.recvmsg(1 << 16, _socket.CMSG_SPACE(4 * 64), _socket.MSG_CMSG_CLOEXEC)
        if not data:
            os._exit(0)  # The harness is gone.
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

        import _socket
    # The first to be registered is the last to run.
    atexit.register(lambda: hidden.leave())
    blank_search_path()
    import_all(recorder)
    check_state()
    hidden = Hidden(base, recorder)
    gc.collect()
    # A collection in a copy would otherwise touch, and so copy, every page.
    gc.freeze()
except BaseException as error:
    _socket.socket(fileno=CONTROL).send(b"failed " + f"{type(error).__name__}: {error}".encode()[:300])
    os._exit(1)
serve(hidden)
sys.meta_path.insert(0, hidden)
if not shadowed:
    raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
