"""The end of a program: what is the program's own is taken apart as ever, and nothing else."""


class Ending:
    """An interpreter that ends takes all modules apart, then its own parts, and then the C library ends the shared
    libraries. In a copy that touches most pages of the server, which the kernel then has to copy, for nothing: they are
    gone a moment later. So modules of the server are taken out of the interpreter's sight before, and the process ends
    as soon as all that was the program's is gone.
    """

    def __init__(self, hidden):
        self.hidden = hidden
        # Numbers of the names that lead to a module of the server, and of these modules.
        names = [*hidden.names, *(name for name in sys.modules if name not in ("__main__", "sys", "builtins"))]
        self.modules = {id(name): id(hidden.all.get(name) or sys.modules.get(name)) for name in names}
        self.libc = ctypes.PyDLL(None)
        # What was registered last comes first at the end: all of the program's libraries, then these two, and nothing
        # of the server's. The second is for what is still in the buffers of C.
        self.libc.on_exit(self.libc._exit, None)
        self.libc.on_exit(self.libc.fcloseall, None)
        # References that nobody gives up.
        for kept in (self, hidden, hidden.all, hidden.__dict__):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))

    def thaw_program(self):
        """The collector may free what is the program's: its namespace exists already."""
        main = sys.modules["__main__"]
        for item in (main, vars(main)):
            if gc.is_tracked(item):
                ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(item))
                ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(item))

    def leave(self):
        """After all that the program registered for its end."""
        own = self.own_modules()
        marks = [Mark(vars(module)) for name, module in own.items() if name not in ("sys", "builtins")]
        for name in self.hidden.second:
            self.hidden.modules.pop(name, None)
        exit = self.libc.exit if self.is_over(vars(own.get("__main__", sys))) else None
        self.replace_modules(own)
        # The interpreter takes `sys` apart after all other modules, and in this order.
        vars(sys)["podium"] = Last(exit, [weakref.ref(mark) for mark in marks])

    def own_modules(self):
        """Modules of the program. No reference to another one is counted meanwhile."""
        key, value, at = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_ssize_t()
        arguments = ctypes.py_object(sys.modules), ctypes.byref(at), ctypes.byref(key), ctypes.byref(value)
        own = {}
        while ctypes.pythonapi.PyDict_Next(*arguments):
            if self.modules.get(key.value) != value.value:
                name, module = (ctypes.cast(item, ctypes.py_object).value for item in (key, value))
                if isinstance(module, type(sys)):
                    own[name] = module
        return own

    def is_over(self, main):
        """True when the program came to the end of its text: then the exit code is 0. The interpreter has taken these
        two names away, which it does not when the program was left by `SystemExit`."""
        if "__file__" in main or "__cached__" in main or hasattr(sys, "last_type") or hasattr(sys, "last_exc"):
            return False
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
        except BaseException:
            return False  # Which the interpreter will say.
        return True

    def replace_modules(self, own):
        """Exchanges the content of `sys.modules` as a whole: entry by entry all of them would be touched."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(own))
        head, size = object.__basicsize__, dict.__basicsize__
        theirs, ours = (ctypes.string_at(id(modules) + head, size - head) for modules in (sys.modules, own))
        ctypes.memmove(id(sys.modules) + head, ours, size - head)
        ctypes.memmove(id(own) + head, theirs, size - head)
        for name in sys.modules:
            del own[name]


class Mark:
    """Lies in a namespace of the program and goes with it."""

    def __init__(self, namespace):
        self.namespace = namespace
        namespace["podium"] = self


class Last:
    """Goes with `sys`."""

    def __init__(self, exit, marks):
        self.exit, self.marks, self.collect = exit, marks, gc.collect

    def __del__(self):
        # A namespace that something of the server holds, such as a function that was put into a package.
        for mark in self.marks:
            mark = mark()
            if mark is not None:
                for name in list(mark.namespace):
                    if name != "__builtins__":
                        mark.namespace[name] = None
        self.collect()
        if self.exit is not None:
            self.exit(0)
