"""Which module brings which: what the imports of the server teach."""


class Recorder:
    """While it is in force, notes which module brings which others, and what else its import changes."""

    def __init__(self):
        self.needs = {}
        self.stack = []
        self.base = frozenset(sys.modules)
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
        self.forget()

    def loading(self, spec):
        """A module is loaded for the first time, by whichever is being loaded now."""
        if self.stack:
            self.note_changes(self.stack[-1])
            self.need(self.stack[-1], spec.name)
        self.stack.append(spec.name)
        if not spec.name.startswith("_sysconfigdata"):
            self.forget()
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

    def forget(self):
        """`sysconfig` imports its data when it is first asked, and whoever asks later would not be seen to need them."""
        module = sys.modules.get("sysconfig")
        for name, nothing in (("_CONFIG_VARS", None), ("_CONFIG_VARS_INITIALIZED", False)):
            if hasattr(module, name):
                setattr(module, name, nothing)

    def note_shared(self):
        """Compiled modules make modules for all of their kind, without a file, the first that is loaded for all others.
        Who needs which is in their text."""
        import mmap

        modules = [(name, module) for name, module in sys.modules.items() if name not in self.base]
        shared = [name for name, module in modules if getattr(module, "__spec__", None) is None]
        shared = [name for name in shared if "." not in name and getattr(sys.modules[name], "__file__", None) is None]
        for name, module in modules:
            path = getattr(module, "__file__", None) or ""
            if path.endswith(".so"):
                with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as text:
                    for other in shared:
                        if text.find(b"\0" + other.encode() + b"\0") >= 0:
                            self.need(name, other)


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
