"""Connects to sockets of the host: by path, by abstract name, by port."""
import glob, socket


def connect(family, address, kind=socket.SOCK_STREAM):
    connection = socket.socket(family, kind)
    connection.settimeout(5)
    connection.connect(address)
    return "connected"


for path in GIVEN["paths"]:
    attempt(path, lambda: connect(socket.AF_UNIX, path))
for name in GIVEN["names"]:
    attempt("@" + name, lambda: connect(socket.AF_UNIX, "\0" + name))
for port in GIVEN["ports"]:
    for host in ["127.0.0.1", "::1", "0.0.0.0", "172.17.0.1", "10.0.2.2"]:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        attempt("%s:%d" % (host, port), lambda: connect(family, (host, port)))
for pattern in ["/run/*", "/var/run/*", "/tmp/*.sock", "/tmp/.X11-unix/*", "/run/user/*/bus", "/run/dbus/*"]:
    attempt(pattern, lambda: glob.glob(pattern))
