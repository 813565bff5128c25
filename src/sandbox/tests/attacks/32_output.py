"""Prints far too much."""
case = GIVEN["case"]
out = sys.stdout.buffer
out.write(b"BEGIN")
if case == "bytes":
    chunk = (b"x" * 99 + b"\n") * 20_000
    for _ in range(GIVEN["bytes"] // len(chunk)):
        out.write(chunk)
elif case == "one line":
    chunk = b"x" * (1 << 20)
    for _ in range(1 << 10):
        out.write(chunk)
elif case == "lines":
    for number in range(1_000_000):
        out.write(b"%d\n" % number)
elif case == "both":
    for number in range(200_000):
        os.write(1, b"out\n")
        os.write(2, b"err\n")
out.write(b"END")
