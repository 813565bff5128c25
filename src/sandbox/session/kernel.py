"""Podium's kernel: runs cells that come through one descriptor and tells of their ends through another.

It runs inside, in the same process as the cells, which can do to it what they like: what it tells is a claim. The
numbers of its descriptors are its arguments, or names to open where none are inherited. A cell comes as a line `NONCE LENGTH` and that many bytes; the answer is
an empty line, a line `NONCE LENGTH` and a JSON document. The first cell is empty and asks what the kernel is.
"""

import ast
import codeop
import fcntl
import json
import linecache
import os
import signal
import subprocess
import sys
import traceback
import types
import warnings



def channel(word, flags):
    if word.isdigit():
        return int(word)
    # Clear of the numbers that cells use, like those that are inherited.
    opened = os.open(word, flags)
    moved = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(opened)
    return moved


CELLS, CONTROL = channel(sys.argv[2], os.O_RDONLY), channel(sys.argv[3], os.O_WRONLY)
LONGEST = 48 << 10  # characters of a value, a message or a traceback that are told
KERNEL = os.getpid()
dumps = json.dumps  # kept from cells that replace it


def nothing(number, frame):
    """Between cells there is nothing to interrupt."""


def shortened(text):
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters not kept ...]\n{text[-half:]}"


def read(count):
    parts = []
    while count:
        part = os.read(CELLS, min(count, 1 << 16))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_cell():
    line = b""
    while not line.endswith(b"\n"):
        line += read(1)
    nonce, length = line.split()
    return nonce, read(int(length)).decode("utf-8", "replace")


def tell(nonce, document):
    body = dumps(document).encode()
    frame = b"\n%s %d\n%s" % (nonce, len(body), body)
    while frame:
        frame = frame[os.write(CONTROL, frame) :]


def text_of(error):
    try:
        return str(error)
    except BaseException as other:
        return f"<no message: {type(other).__name__}>"


def line_of(error, space):
    """The line of a cell that the exception passed last."""
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals is space:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def raised(error, told, space):
    return {
        "kind": "raised",
        "exception": {
            "kind": type(error).__name__,
            "message": shortened(text_of(error)),
            "line": line_of(error, space),
        },
        "traceback": shortened(told),
    }


class Plain:
    """What runs cells where IPython is not installed."""

    program = "python " + sys.version.split()[0]

    def __init__(self, module):
        self.space = module.__dict__
        self.space["__podium_system__"] = self.system
        self.compile = codeop.Compile()
        self.count = 0

    @staticmethod
    def system(command):
        subprocess.call(command, shell=True)

    def parse(self, code, name):
        try:
            return ast.parse(code, name)
        except SyntaxError:
            if not any(line.lstrip().startswith("!") for line in code.splitlines()):
                raise
        lines = []
        for line in code.splitlines():
            bare = line.lstrip()
            if bare.startswith("!"):
                line = f"{line[: len(line) - len(bare)]}__podium_system__({bare[1:]!r})"
            lines.append(line)
        return ast.parse("\n".join(lines), name)

    def run(self, code):
        self.count += 1
        name = f"<cell {self.count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            body = self.parse(code, name).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(self.compile(ast.Module(body, []), name, "exec"), self.space)
            value = None
            if last is not None:
                value = eval(self.compile(ast.Expression(last.value), name, "eval"), self.space)
            if value is None:
                return {"kind": "completed", "value": None}
            self.space["_"] = value
            return {"kind": "completed", "value": shortened(repr(value))}
        except BaseException as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_globals is not self.space:
                trace = trace.tb_next
            try:
                told = "".join(traceback.format_exception(type(error), error, trace))
            except BaseException:
                told = type(error).__name__
            return raised(error, told, self.space)


def interactive(module):
    """What runs cells where IPython is installed."""
    import IPython
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Hook(DisplayHook):
        """Keeps the value of a cell instead of printing it."""

        def start_displayhook(self):
            pass

        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            self.shell.value = format_dict.get("text/plain")

        def finish_displayhook(self):
            pass

    class Shell(InteractiveShell):
        program = "ipython " + IPython.__version__
        displayhook_class = Hook
        value = told = None
        # Without a terminal in between, which the default would open.
        system = InteractiveShell.system_raw

        def getoutput(self, cmd, split=True, depth=0):
            found = subprocess.run(
                self.var_expand(cmd, depth=depth + 1),
                shell=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ).stdout.decode("utf-8", "replace")
            if split:
                from IPython.utils.text import SList

                return SList(found.splitlines())
            return found

        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            raise SystemExit

        def _showtraceback(self, etype, evalue, stb):
            self.told = self.InteractiveTB.stb2text(stb)

        def show_usage_error(self, exc):
            self.told = f"UsageError: {exc}"

        def run(self, code):
            self.value = self.told = None
            result = self.run_cell(code, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            if error is None:
                if self.told is not None:
                    # The value could not be shown, which is no failure of the cell.
                    print(self.told, file=sys.stderr)
                value = self.value
                return {"kind": "completed", "value": None if value is None else shortened(value)}
            return raised(error, self.told or type(error).__name__, self.user_ns)

    warnings.filterwarnings("ignore", "To exit: use")
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor" if IPython.version_info < (9,) else "nocolor"
    return Shell.instance(config=config, user_module=module)


def settle(output):
    """Undoes what a cell has done to the standard streams, so that the next can be heard."""
    for number in (1, 2):
        try:
            intact = os.path.samestat(os.fstat(number), os.fstat(output))
        except OSError:
            intact = False
        if not intact:
            os.dup2(output, number)
    for name, number in (("stdout", 1), ("stderr", 2)):
        try:
            getattr(sys, name).flush()
        except Exception:
            stream = open(number, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
            setattr(sys, name, stream)


def main():
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = [""]
    sys.path.insert(0, "")
    for descriptor in (CELLS, CONTROL):
        os.set_inheritable(descriptor, False)
    output = os.dup(1)
    signal.signal(signal.SIGINT, nothing)
    try:
        shell = interactive(module)
    except Exception:
        shell = Plain(module)
    nonce, _ = read_cell()
    tell(nonce, {"kind": "ready", "program": shell.program})
    while True:
        nonce, code = read_cell()
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            answer = shell.run(code)
            signal.signal(signal.SIGINT, nothing)
        except BaseException as error:
            signal.signal(signal.SIGINT, nothing)
            answer = raised(error, traceback.format_exc(), {})
        if os.getpid() != KERNEL:
            # A cell has forked, and its child has come this far.
            os._exit(0)
        settle(output)
        tell(nonce, answer)


main()
