"""A submission that is, or leads through, a symbolic link."""
target = "submission/submission.csv"
case = GIVEN["case"]
if case == "answers":
    os.symlink(GIVEN["answers"], target)
elif case == "passwd":
    os.symlink("/etc/passwd", target)
elif case == "input":
    os.symlink("../input/train.csv", target)
elif case == "folder":
    os.rmdir("submission")
    os.symlink("input", "submission")
    os.symlink("/workspace/input/train.csv", "submission.csv")
elif case == "descriptor":
    os.symlink("/proc/self/fd/0", target)
print("made", case)
