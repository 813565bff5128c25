"""Which functions of a program are executed: each begins with a breakpoint that is taken away when it is first met.

For x86-64 Linux. All threads are followed, and processes that it forks until they are another program.
"""
import ctypes
import os
import signal
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_ulong, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
TRACEME, CONT, GETREGS, SETREGS, DETACH, SETOPTIONS = 0, 7, 12, 13, 17, 0x4200
FORK, VFORK, CLONE, EXEC = 1, 2, 3, 4
EXIT_KILL = 1 << 20
BREAK = b"\xcc"
# Of the registers' 27 words.
INSTRUCTION = 16
ALL = 0x40000000  # threads as well, in `waitpid`


class Registers(ctypes.Structure):
    _fields_ = [("words", ctypes.c_ulong * 27)]


def ptrace(request, pid, data=None):
    if LIBC.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def base(pid, program):
    """Where the program lies in a process."""
    with open(f"/proc/{pid}/maps") as lines:
        return next(int(line.split("-")[0], 16) for line in lines if line.rstrip().endswith(str(program)))


def executed(program, arguments, begins, **options):
    """Runs a program to its end; its exit code, and which of these addresses were executed."""
    child = subprocess.Popen([program, *arguments], preexec_fn=lambda: ptrace(TRACEME, 0), **options)
    os.waitpid(child.pid, 0)
    ptrace(SETOPTIONS, child.pid, EXIT_KILL | sum(1 << event for event in (FORK, VFORK, CLONE, EXEC)))
    loaded = base(child.pid, program)
    found, kept = set(), {}
    with open(f"/proc/{child.pid}/mem", "r+b", buffering=0) as memory:
        for begin in set(begins):
            memory.seek(loaded + begin)
            kept[loaded + begin] = memory.read(1)
            memory.seek(loaded + begin)
            memory.write(BREAK)
    ptrace(CONT, child.pid)
    while True:
        pid, status = os.waitpid(-1, ALL)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if pid == child.pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode, {address - loaded for address in found}
            continue
        passed, event = os.WSTOPSIG(status), status >> 16
        try:
            if event == EXEC and pid != child.pid:
                # Another program, which is of no interest.
                ptrace(DETACH, pid)
                continue
            if passed == signal.SIGTRAP and not event:
                met(pid, kept, found)
            # A new thread or process stops once before it begins.
            silent = event or passed in (signal.SIGTRAP, signal.SIGSTOP)
            ptrace(CONT, pid, 0 if silent else passed)
        except (OSError, ProcessLookupError):
            # It has been killed meanwhile.
            continue


def met(pid, kept, found):
    """Takes a breakpoint away, and has the instruction below it executed."""
    registers = Registers()
    ptrace(GETREGS, pid, ctypes.byref(registers))
    address = registers.words[INSTRUCTION] - 1
    if address not in kept:
        return
    found.add(address)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        memory.write(kept[address])
    registers.words[INSTRUCTION] = address
    ptrace(SETREGS, pid, ctypes.byref(registers))
