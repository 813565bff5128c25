"""All that can be asked of the interpreter itself."""

print(__name__, __file__, __builtins__, __spec__, __doc__, sorted(globals()), __loader__.__class__)
import codecs, faulthandler, gc, locale, os, signal, sys, threading, time, warnings  # noqa: E401

print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix)
print(sys.flags, sys.warnoptions, sys._xoptions, sys.getrecursionlimit(), sys.getswitchinterval(), sys.implementation)
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), locale.getlocale(), locale.getpreferredencoding())
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream, stream.line_buffering, stream.write_through, stream.errors, stream.isatty(), stream.buffer)
print(warnings.filters, warnings.showwarning, sys.excepthook, sys.unraisablehook, sys.breakpointhook, sys.displayhook)
print({number: signal.getsignal(number) for number in signal.valid_signals() if number != 9})
print(threading.enumerate()[0].name, threading.active_count(), threading.main_thread().ident == threading.get_ident())
print(threading.get_native_id() == os.getpid(), faulthandler.is_enabled(), gc.isenabled(), gc.get_threshold(), gc.callbacks)
print([getattr(finder, "__name__", finder) for finder in sys.meta_path][-3:], sys.path_hooks, sys.dont_write_bytecode)
print(hash("podium"), time.tzname, sorted(os.environ.items()), os.get_exec_path())
print(sys.gettrace(), sys.getprofile(), sys.stdlib_module_names == frozenset(sys.stdlib_module_names), os.cpu_count())
print("sitecustomize" in sys.modules, "_socket" in sys.modules, "ctypes" in sys.modules)
