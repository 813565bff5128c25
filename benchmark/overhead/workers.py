"""What parallel workers save: `python3 benchmark/overhead/workers.py`.

Each run takes the same number of steps of AIDE's scaffold against the stand-in server, which lets a second go by before
each answer; the scripts take a few hundredths of a second. A table goes to standard output: the wall time with each
number of workers, and its share of one worker's.
"""
import argparse
import sys
import tempfile
from pathlib import Path

from measure import ROOT, Server, measured, podium, podium_nodes, prepare, say

BAR = {4: 0.35}  # most of one worker's time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--podium", type=Path, default=ROOT / "target/release/podium", help="default: %(default)s")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="for the scripts [default: this one]")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds before each answer [default: 1]")
    arguments = parser.parse_args()
    program = arguments.podium.resolve()
    with Server(arguments.latency) as server, tempfile.TemporaryDirectory(prefix="podium-workers-") as place:
        place = Path(place)
        env = prepare(program, place)
        walls = {}
        for workers in [0, *arguments.workers]:  # 0: a short one, not counted, looks at the Python once
            name, steps = f"workers{workers}", arguments.steps if workers else 1
            folder = place / name
            folder.mkdir()
            more = ["--set", f"search.workers={workers or 1}"]
            command = podium(program, place, arguments.python, steps, more)
            walls[workers], _ = measured(command, {**env, "OPENAI_BASE_URL": f"{server.url}/{name}/v1"}, folder)
            nodes, requests = podium_nodes(folder)[0], server.count(name)["requests"]
            if (nodes, requests) != (steps, 2 * steps):
                sys.exit(f"{name}: {nodes} nodes and {requests} requests of {steps} steps")
            if workers:
                say(f"{workers} workers: {walls[workers]:.1f} s")
        del walls[0]
        one = walls.get(1)
        print(f"| workers | {arguments.steps} steps | of one worker's | bar |")
        print("|---|---|---|---|")
        for workers, wall in walls.items():
            share = f"{wall / one:.2f}" if one else ""
            bar = f"at most {BAR[workers]}" if workers in BAR else ""
            print(f"| {workers} | {wall:.1f} s | {share} | {bar} |", flush=True)


if __name__ == "__main__":
    main()
