"""What the harness itself costs, beside AIDE: `python3 benchmark/overhead/overhead.py --aide CHECKOUT`.

CHECKOUT is a folder with AIDE's repository (github.com/WecoAI/aideml). It is installed, with the packages that it
imports, into a virtual environment of its own (`--venv`, made once). Then `aide` and `podium` each take the same number
of steps against the same stand-in server, which answers at once with the same trivial scripts, on the same data and with
the same Python. A table goes to standard output: wall time of the whole command, and the peak memory of its own process
(`VmHWM`; what it executes is a child and does not count on either side).

AIDE has its defaults but for the report at the end, which Podium does not ask a model for. Podium has its defaults, which
at an offline competition are warm starts, and beside them `--warm off`, where each script starts a Python of its own.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import COMPETITION, ROOT, Server, measured, podium, podium_nodes, prepare, say

# The bars: Podium over AIDE.
WALL, MEMORY = 1 / 10, 1 / 8
WORDS = {"aide": "`aide`", "warm": "`podium run`", "cold": "`podium run --warm off`"}


def install(checkout, venv):
    """AIDE and what it imports; the long list of packages for agents' scripts is left out."""
    done = venv / "installed"
    if done.exists():
        return
    say(f"installing AIDE into {venv} (once)")
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    needs = (checkout / "requirements.txt").read_text().split("# agent requirements")[0]
    needs = [line.strip() for line in needs.splitlines() if line.strip() and not line.startswith("#")]
    pip = [venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *needs, "backoff", "python-dotenv"], check=True)
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(checkout, f"{copy}/aide", ignore=shutil.ignore_patterns(".git", "sample_results"))
        subprocess.run([*pip, "--no-deps", f"{copy}/aide"], check=True)
    done.touch()


class Bench:
    def __init__(self, arguments, place, server):
        self.arguments, self.place, self.server, self.number = arguments, place, server, 0
        self.env = prepare(arguments.podium, place)

    def run(self, kind):
        """One run of `aide`, `warm` or `cold`: its wall time and its peak, once it has been shown to be a whole one. Its
        folder stays until the end: ext4 passes over what was deleted a moment ago, one by one, with each new file."""
        self.number += 1
        name, steps = f"{kind}{self.number}", self.arguments.steps
        folder = self.place / name
        folder.mkdir()
        command = self.aide() if kind == "aide" else self.podium(kind)
        result = measured(command, {**self.env, "OPENAI_BASE_URL": f"{self.server.url}/{name}/v1"}, folder)
        nodes, broken = aide_nodes(folder) if kind == "aide" else podium_nodes(folder)
        count = self.server.count(name)
        if (nodes, count["scripts"], count["requests"]) != (steps, steps, 2 * steps):
            sys.exit(f"{name}: {nodes} nodes and {count}, where {steps} steps with two calls each were due")
        if broken != len([number for number in range(steps) if number % 7 == 3]):
            sys.exit(f"{name}: {broken} buggy nodes")
        return result

    def aide(self):
        values = {
            "data_dir": self.place / "data" / COMPETITION / "prepared/public",
            "desc_file": ROOT / "benchmark/offline" / COMPETITION / "description.md",
            "agent.steps": self.arguments.steps, "agent.code.model": "stand-in", "agent.feedback.model": "stand-in",
            "generate_report": "false", "log_dir": "logs", "workspace_dir": "workspaces",
        }
        return [self.arguments.venv / "bin/aide", *(f"{key}={value}" for key, value in values.items())]

    def podium(self, kind):
        more = [] if kind == "warm" else ["--warm", "off"]
        return podium(self.arguments.podium, self.place, self.arguments.venv / "bin/python", self.arguments.steps, more)


def aide_nodes(folder):
    journal = next((folder / "logs").glob("*/journal.json"))
    nodes = json.loads(journal.read_text())["nodes"]
    return len(nodes), len([node for node in nodes if node["is_buggy"]])


def table(results, steps):
    walls = {kind: [wall for wall, _ in runs] for kind, runs in results.items()}
    peaks = {kind: statistics.median(most for _, most in runs) for kind, runs in results.items()}
    middle = {kind: statistics.median(times) for kind, times in walls.items()}
    print(f"| {steps} steps | wall time | range | of AIDE's | peak memory of its process | of AIDE's |")
    print("|---|---|---|---|---|---|")
    for kind, times in walls.items():
        wall, memory = (f"{value[kind] / value['aide']:.3f}" if kind != "aide" else "" for value in (middle, peaks))
        span = f"{min(times):.2f}–{max(times):.2f} s"
        print(f"| {WORDS[kind]} | {middle[kind]:.2f} s | {span} | {wall} | {peaks[kind] / 2**20:.1f} MiB | {memory} |")
    print(f"| bar | | | under {WALL:.3f} | | under {MEMORY:.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aide", type=Path, required=True, metavar="CHECKOUT", help="folder with AIDE's repository")
    parser.add_argument("--podium", type=Path, default=ROOT / "target/release/podium", help="default: %(default)s")
    parser.add_argument("--venv", type=Path, default=ROOT / "target/aide-venv", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each, in turn [default: 7]")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    arguments.podium, arguments.venv = arguments.podium.resolve(), arguments.venv.absolute()
    install(arguments.aide.resolve(), arguments.venv)
    with Server() as server, tempfile.TemporaryDirectory(prefix="podium-overhead-") as place:
        bench = Bench(arguments, Path(place), server)
        kinds = ["warm", "cold", "aide"]
        results = {kind: [] for kind in WORDS}
        for kind in kinds:  # not counted: looks at the Python once, compiles AIDE
            bench.run(kind)
        for number in range(arguments.rounds):
            for kind in kinds[number % 3:] + kinds[:number % 3]:
                results[kind].append(bench.run(kind))
            say(f"round {number + 1}: " + ", ".join(f"{kind} {runs[-1][0]:.2f} s" for kind, runs in results.items()))
        table(results, arguments.steps)


if __name__ == "__main__":
    main()
