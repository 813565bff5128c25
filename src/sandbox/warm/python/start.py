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
