"""Measures `podium competitions new` and `check` on a large table: `python large.py PODIUM [ROWS]`.

Writes a table of ROWS rows (10 million unless given: about 0.5 GB) into a temporary folder, makes competitions of it by
several splits, and prints time and peak memory of each command. Use a release build.
"""
import subprocess
import sys
import tempfile
from pathlib import Path


def write(path, rows):
    """Keys, numbers, words, days; a linear congruence instead of a random generator, so that it is quick."""
    words = ["red", "green", "blue", "violet"]
    state = 1
    with open(path, "w", encoding="ascii", buffering=1 << 20) as file:
        file.write("key,amount,rate,colour,day,customer,sold\n")
        for row in range(rows):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            a = state >> 40
            day = f"20{10 + row % 14}-{1 + a % 12:02}-{1 + a % 28:02}"
            file.write(f"k{row},{a % 100000},{a % 997}.25,{words[a % 4]},{day},c{a % 90001},{(a >> 3) % 2}\n")


def measured(argv):
    """Seconds and peak memory in MiB of one command, in a process of its own."""
    code = (
        "import os, resource, subprocess, sys, time; start = time.time(); "
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024); sys.exit(done.returncode)"
    )
    done = subprocess.run([sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, check=True)
    return map(float, done.stdout.split())


def main():
    podium, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "large.csv"
        write(table, rows)
        size = table.stat().st_size / 1e6
        print(f"{rows} rows, {size:.0f} MB\n\n| command | time | peak memory |\n|---|---|---|")
        common = ["--data-dir", str(Path(folder) / "data")]
        for split in ["random", "stratified", "group:customer", "time:day"]:
            name = split.split(":")[0]
            argv = [podium, *common, "competitions", "new", name, "--from", str(table), "--target", "sold",
                    "--metric", "auc", "--split", split, "--id", "key", "--no-board"]
            seconds, peak = measured(argv)
            print(f"| new, {split} | {seconds:.1f} s | {peak:.0f} MiB |", flush=True)
        seconds, peak = measured([podium, *common, "competitions", "check", "random"])
        print(f"| check | {seconds:.1f} s | {peak:.0f} MiB |")


if __name__ == "__main__":
    main()
