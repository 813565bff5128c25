"""Checks the offline competitions: `python check.py [id …]` (all when no id is given).

(a) the archives hold the files and row counts of competition.toml, (b) the sample submission's and the answers' keys are
unique and equal, (c) every playbook solution runs on the public data alone; its score is printed beside the board.
Ends with status 1 when something is wrong.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import pandas as pd

import metrics
from board import HERE, read, unpack

problems = []


def expect(good, text):
    if not good:
        problems.append(text)
        print("  WRONG:", text)


def check_data(name, config, public, answers):
    data, keys = config["data"], config["submission"]["id"]
    expect(len(read(public / data["train"])) == data["train_rows"], f"{name}: number of train rows")
    expect(len(read(public / data["test"])) == data["test_rows"], f"{name}: number of test rows")
    sample = read(public / data["sample_submission"])
    expect(list(sample.columns) == keys + config["submission"]["columns"], f"{name}: columns of the sample submission")
    for label, frame in [("sample submission", sample), ("answers", answers)]:
        expect(not frame.duplicated(keys).any(), f"{name}: keys of the {label} are not unique")
    same = set(map(tuple, sample[keys].to_numpy())) == set(map(tuple, answers[keys].to_numpy()))
    expect(same, f"{name}: keys of sample submission and answers differ")
    for kind in ("public", "private"):
        expect((HERE / name / "data" / f"{kind}.tar.gz").stat().st_size < 1_000_000, f"{name}: {kind} archive is too large")


def run(script, public):
    """Runs one script as an agent would: (seconds, exit status, printed metric, submission or None)."""
    with tempfile.TemporaryDirectory() as work:
        os.symlink(public, Path(work) / "input")
        start = time.time()
        ended = subprocess.run([sys.executable, str(script)], cwd=work, capture_output=True, text=True, timeout=120)
        seconds = time.time() - start
        printed = re.findall(r"^validation (\S+): (\S+)$", ended.stdout, re.M)
        path = Path(work) / "submission" / "submission.csv"
        return seconds, ended, printed, read(path) if path.exists() else None


def check_playbook(name, config, public, answers, board):
    folder = HERE / name / "playbook"
    solutions = tomllib.loads((folder / "playbook.toml").read_text())["solution"]
    by_name = {s["name"]: s for s in solutions}
    expect(len(by_name) == len(solutions), f"{name}: solution names are not unique")
    expect({s["file"] for s in solutions} == {p.name for p in folder.glob("*.py")}, f"{name}: files of the playbook")
    higher = config["metric"]["direction"] == "higher"
    for solution in solutions:
        label = f"{name}/{solution['name']}"
        for other in solution["improved_by"] + ([solution["fixed_by"]] if solution["buggy"] else []):
            expect(other in by_name and not by_name[other]["buggy"], f"{label} names {other}, which is no sound solution")
        seconds, ended, printed, submission = run(folder / solution["file"], public)
        kind = "buggy" if solution["buggy"] else "leaky" if solution.get("leaky") else ""
        if solution["buggy"]:
            expect(ended.returncode != 0 or submission is None, f"{label} should fail")
            why = (ended.stderr.strip().splitlines() or ["no submission"])[-1]
            print(f"  {solution['name']:28} {'':>10} {'':>10} {'':9} {seconds:5.1f} s  {kind}: {why[:70]}")
            continue
        expect(ended.returncode == 0 and submission is not None, f"{label} fails: {ended.stderr[-300:]}")
        if submission is None:
            continue
        expect(len(printed) == 1 and printed[0][0] == config["metric"]["name"], f"{label}: the validation line")
        expect(seconds < 10, f"{label} takes {seconds:.1f} s")
        value = metrics.score(config, answers, submission)
        expect(not (board["score"] - value).abs().lt(1e-9).any(), f"{label} has a score of the board")
        ahead = (board["score"] > value).sum() if higher else (board["score"] < value).sum()
        place = f"{ahead + 1}/{len(board) + 1}"
        print(f"  {solution['name']:28} {value:10.5f} {float(printed[0][1]):10.5f} {place:>9} {seconds:5.1f} s  {kind}")


def check(name):
    config = tomllib.loads((HERE / name / "competition.toml").read_text())
    board = pd.read_csv(HERE / name / "board.csv")
    with tempfile.TemporaryDirectory() as temporary:
        public, private = Path(temporary) / "public", Path(temporary) / "private"
        unpack(name, "public", public)
        unpack(name, "private", private)
        answers = read(private / config["answers"]["file"])
        marks = board["score"].iloc[[round(q * (len(board) - 1)) for q in (0, 0.1, 0.2, 0.4, 0.5, 0.75, 1)]]
        print(f"{name}: {config['metric']['name']}, {config['metric']['direction']} is better; board of {len(board)}")
        print("  best, 10 %, 20 %, 40 %, 50 %, 75 %, worst:", " ".join(f"{m:.5f}" for m in marks))
        check_data(name, config, public, answers)
        if (HERE / name / "playbook").exists():
            print(f"  {'playbook solution':28} {'score':>10} {'validation':>10} {'place':>9}")
            check_playbook(name, config, public, answers, board)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/competition.toml")):
        check(name)
    print(f"{len(problems)} problems")
    sys.exit(bool(problems))
