"""What the benchmarks of this folder share: the stand-in server, and one measured run of a harness."""
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMPETITION = "digits"
POLL = 0.004  # seconds between two looks at the peak, which only ever grows


def say(text):
    print(text, file=sys.stderr, flush=True)


class Server:
    """`server.py` in a process of its own, for as long as this is entered."""

    def __init__(self, latency=0):
        self.command = [sys.executable, HERE / "server.py", str(latency)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def count(self, name):
        with urllib.request.urlopen(f"{self.url}/{name}/count") as answer:
            return json.load(answer)


def prepare(program, place):
    """Lays the competition's data below `place`. The variables of all runs: nothing of the caller's own configuration,
    and a home folder of their own."""
    home = place / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    command = [program, "competitions", "prepare", COMPETITION, "--assets", ROOT, "--data-dir", place / "data"]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return env


def peak(pid):
    """Highest resident memory so far in bytes; none once the process has gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def measured(command, env, folder):
    """Runs a command; its wall time in seconds and its own peak memory in bytes."""
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        begun = time.perf_counter()
        child = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        most = 0
        while child.poll() is None:
            most = max(most, peak(child.pid) or 0)
            time.sleep(POLL)
        wall = time.perf_counter() - begun
    if child.returncode != 0:
        said = (folder / "stderr").read_text(errors="replace") + (folder / "stdout").read_text(errors="replace")
        sys.exit(f"{command[0]} ended with {child.returncode}:\n{said[-4000:]}")
    return wall, most


def podium(program, place, python, steps, more):
    """`podium run` of AIDE's scaffold against the server of its environment."""
    return [
        program, "run", "--competition", COMPETITION, "--model", "openai/stand-in", "--json", "--steps", str(steps),
        "--python", python, "--data-dir", place / "data", "--runs-dir", "runs", *more,
    ]


def podium_nodes(folder):
    """How many nodes a run has by its own report, and how many of them are buggy."""
    nodes = json.loads((folder / "stdout").read_text())["nodes"]
    return nodes["total"], nodes["buggy"]
