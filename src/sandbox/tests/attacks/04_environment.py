"""Prints the names of its environment."""
print("names", *sorted(os.environ))
for name in ("KEY", "TOKEN", "SECRET", "PASSWORD", "PROXY", "CREDENTIAL", "CARGO", "PODIUM"):
    attempt(name, lambda: [variable for variable in os.environ if name in variable.upper()])
