"""Tries to reach anything at all."""
import socket

start = time.time()
attempt("tcp", lambda: socket.create_connection(("1.1.1.1", 443), 5))
attempt("tcp6", lambda: socket.create_connection(("2606:4700::1111", 443), 5))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)))
attempt("udp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("2001:4860:4860::8888", 53)))
attempt("broadcast", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("255.255.255.255", 9)))
attempt("name", lambda: socket.getaddrinfo("example.org", 80))
attempt("icmp", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("ping", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).sendto(b"\x08\0\0\0\0\0\0\0", ("1.1.1.1", 0)))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), 5))
attempt("slow", lambda: "slow" if time.time() - start > 2 else None)


def sent():
    """Devices besides the loopback, or packets on them."""
    return [line for line in open("/proc/net/dev").read().splitlines()[2:]
            if not line.strip().startswith("lo:") and line.split()[9] != "0"]


attempt("packets", sent)
server = socket.create_server(("localhost", 0))
socket.create_connection(server.getsockname()[:2]).close()
socket.socketpair()
print("local works")
