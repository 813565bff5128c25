"""A submission that is no regular file of its own."""
import socket, stat

target = "submission/submission.csv"
case = GIVEN["case"]
if case == "hard link":
    open("other", "w").close()
    os.link("other", target)
elif case == "fifo":
    os.mkfifo(target)
elif case == "directory":
    os.mkdir(target)
elif case == "socket":
    socket.socket(socket.AF_UNIX).bind(target)
elif case == "device":
    attempt("mknod", lambda: os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 5)) or "made")
elif case == "file as folder":
    os.rmdir("submission")
    open("submission", "w").close()
elif case == "nothing":
    pass
print("made", case)
