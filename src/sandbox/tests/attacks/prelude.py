"""What every attack has at hand."""
import ctypes, json, os, sys, time


def attempt(name, call):
    """Tries what must not work: it holds when the call raises, or returns nothing."""
    try:
        result = call()
    except Exception as error:
        print("held", name, type(error).__name__, getattr(error, "errno", ""), flush=True)
        return
    if result is None or result is False or result == [] or result == "":
        print("held", name, "nothing", flush=True)
    else:
        print("BROKEN", name, repr(result)[:200], flush=True)


def read(path):
    with open(path, "rb") as file:
        return file.read(4096) or b"(empty)"


LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """A system call by number; raises what the kernel says."""
    result = LIBC.syscall(number, *arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ("returned", result)


