"""What the server imports, and what must not come of it."""


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
