"""Modules that are there and not seen yet."""


class Hidden:
    """What was imported and is not shown yet; a finder and a loader of modules."""

    def __init__(self, base, recorder):
        # New texts, for they lie together: a copy that counts references to names from all over the server copies as
        # many pages.
        found = [name for name in sys.modules if name not in base]
        self.modules = {name: sys.modules[name] for name in "\0".join(found).split("\0")}
        # Second names of what is not hidden, as `__mp_main__` is one of the script.
        shown = {id(sys.modules[name]) for name in base if name in sys.modules}
        self.second = [name for name, module in self.modules.items() if id(module) in shown]
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
        self.shadowed = set()
        self.finder = sys.modules["_frozen_importlib_external"].PathFinder
        self.top_level = frozenset(name.partition(".")[0] for name in self.modules)

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

    def find_spec(self, name, path=None, target=None):
        module = self.modules.get(name)
        real = getattr(module, "__spec__", None)
        if real is None or self.is_shadowed(name, path, real):
            return None
        spec = type(real)(name, self, origin=real.origin, is_package=real.submodule_search_locations is not None)
        spec.submodule_search_locations = real.submodule_search_locations
        spec.has_location = real.has_location
        spec.cached = real.cached
        return spec

    def is_shadowed(self, name, path, real):
        """True when the search path leads to another module of this name: the script has written one, or put a folder
        in front. What was imported here with the first of the name goes on with that."""
        top = name.partition(".")[0]
        if path is None and real.has_location and top not in self.shadowed:
            found = self.finder.find_spec(name)
            if found is not None and found.has_location and found.origin != real.origin:
                self.shadowed.add(top)
                for other in [other for other in self.modules if other.partition(".")[0] == top]:
                    del self.modules[other]
        return top in self.shadowed

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
