#!/usr/bin/env python3
"""How long an experiment of 1,000 runs takes to list, report and compare: a table.

    tests/bench/thousand_runs.py target/release/podium runs/ab [--runs 1000]

The ended runs of an experiment stand for many: their `run.json` and `config.json` are copied under new seeds into a
temporary folder. Nothing of the experiment itself is touched. Each command is run five times and the median told.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time


def multiply(source, target, wanted):
    stored = json.loads((source / "experiment.json").read_text())
    ended = [run for run in stored["plan"]["runs"] if (source / run["folder"] / "run.json").exists()]
    if not ended:
        raise SystemExit("the experiment has no ended run")
    runs = []
    while len(runs) < wanted:
        for run in ended[: wanted - len(runs)]:
            copy = dict(run, seed=run["seed"] + 1000 * (len(runs) // len(ended)))
            copy["folder"] = f"{run['folder']}-{len(runs)}"
            (target / copy["folder"]).mkdir(parents=True)
            for name in ("config.json", "run.json"):
                shutil.copy(source / run["folder"] / name, target / copy["folder"] / name)
            runs.append(copy)
    stored["plan"]["runs"] = runs
    (target / "experiment.json").write_text(json.dumps(stored))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("podium", type=pathlib.Path)
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "thousand"
        multiply(arguments.experiment, target, arguments.runs)
        print(f"| {arguments.runs} runs | median of 5, s | slowest, s |\n|---|---:|---:|")
        for words in (["status"], ["report"], ["report", "--json"], ["report", "--csv"], ["compare"]):
            times = []
            for _ in range(5):
                begun = time.monotonic()
                command = [arguments.podium.resolve(), "experiment", words[0], target, *words[1:]]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                times.append(time.monotonic() - begun)
            print(f"| podium experiment {' '.join(words)} | {statistics.median(times):.2f} | {max(times):.2f} |")


if __name__ == "__main__":
    main()
