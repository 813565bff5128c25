"""What a process does to itself on its way into a jail."""


class Kernel:
    """System calls that Python has no function for."""

    USER_OF_NAMESPACE = 0xB701  # NS_GET_USERNS
    PIDFD_OPEN, CLOSE_RANGE = 434, 436
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

    def open_process(self, number):
        word = ctypes.c_ulong
        return self.check("pidfd_open", self.libc.syscall(word(self.PIDFD_OPEN), word(number), word(0)))

    def prepare_filter(self, code):
        """The two structures that the kernel wants, which must live until then."""

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

        return Program(len(code) // 8, code)

    def install_filter(self, program):
        self.check("PR_SET_SECCOMP", self.prctl(self.SECCOMP, 2, ctypes.addressof(program)))
