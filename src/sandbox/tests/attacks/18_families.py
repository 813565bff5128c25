"""Asks for sockets of odd families and for asynchronous rings: all refused, not merely useless."""
import socket

for name, family, kind, protocol in [
    ("vsock", 40, socket.SOCK_STREAM, 0), ("packet", 17, socket.SOCK_RAW, 0), ("netlink", 16, socket.SOCK_RAW, 0),
    ("alg", 38, socket.SOCK_SEQPACKET, 0), ("bluetooth", 31, socket.SOCK_RAW, 1), ("can", 29, socket.SOCK_RAW, 1),
    ("tipc", 30, socket.SOCK_RDM, 0), ("xdp", 44, socket.SOCK_RAW, 0), ("rds", 21, socket.SOCK_SEQPACKET, 0),
    ("key", 15, socket.SOCK_RAW, 2), ("smc", 43, socket.SOCK_STREAM, 0), ("qipcrtr", 42, socket.SOCK_DGRAM, 0),
    ("mptcp", socket.AF_INET, socket.SOCK_STREAM, 262), ("mptcp6", socket.AF_INET6, socket.SOCK_STREAM, 262),
]:
    def refused():
        try:
            return socket.socket(family, kind, protocol)
        except PermissionError:
            raise
        except OSError as error:
            return error
    attempt(name, refused)
attempt("pair", lambda: socket.socketpair(16, socket.SOCK_RAW))
if os.uname().machine == "x86_64":
    for name, number in [("io_uring_setup", 425), ("io_uring_enter", 426), ("io_uring_register", 427)]:
        attempt(name, lambda: call(number, 8, ctypes.create_string_buffer(256)))
