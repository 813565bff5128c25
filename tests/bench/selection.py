"""Which rule finds the best node? Runs a scaffold with the stand-in model over the offline competitions, then tells for
each rule of selection the test score of the node it would have handed in, and what that is short of the best node: the
selection loss. Test scores are an oracle's, computed after the runs; no run sees them.

    python tests/bench/selection.py run   --podium target/release/podium --runs RUNS [--seeds 3] [--steps 10] [...]
    python tests/bench/selection.py table --podium target/release/podium --runs RUNS [--honest]

With `--honest` nodes do not count whose script the stand-in's library marks as leaky or as misbehaviour.

`run` may be stopped and begun again: what has ended is not run again. Nothing but Python's own library is needed.
"""

import argparse
import glob
import json
import math
import os
import sqlite3
import statistics
import subprocess
import tomllib

TOP = {"final slice": 5, "mean - spread": 3}
RULES = ["printed", "holdout", "folds", "mean - spread", "final slice", "both slices"]


def catalog(assets):
    found = {}
    for path in sorted(glob.glob(os.path.join(assets, "benchmark/offline/*/competition.toml"))):
        with open(path, "rb") as file:
            competition = tomllib.load(file)
        found[competition["id"]] = competition
    return found


def run(options):
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for competition in options.competitions or catalog(options.assets):
            into = os.path.join(options.runs, f"{competition}-{seed}")
            if os.path.exists(os.path.join(into, "run.json")):
                continue
            if os.path.exists(into):
                command = ["resume", into]
            else:
                command = ["run", "--scaffold", options.scaffold, "--competition", competition, "--model", "playbook"]
                command += ["--seed", str(seed), "--steps", str(options.steps), "--time-limit", options.time_limit]
                command += ["--execution-limit", options.execution_limit, "--into", into, "--assets", options.assets]
                command += [part for value in options.set for part in ("--set", value)]
            ended = subprocess.run([options.podium, *command], capture_output=True, text=True)
            print(f"{competition} {seed}: exit code {ended.returncode}", flush=True)
            if ended.returncode != 0:
                print(ended.stderr[-500:], flush=True)


def records(folder):
    """Node records and scores on the final slice, from the journal."""
    journal = sqlite3.connect(f"file:{os.path.join(folder, 'journal.db')}?mode=ro", uri=True)
    nodes, final = [], {}
    for body, content in journal.execute("SELECT body, content FROM entry WHERE kind = 'result' ORDER BY seq"):
        if body is None:
            with open(os.path.join(folder, "content", content)) as file:
                body = file.read()
        record = json.loads(body)
        effect, result = record["effect"], record["result"].get("value")
        if effect["effect"] == "node":
            nodes.append(effect)
        elif effect["effect"] == "evaluate" and effect["labels"] == "holdout_final":
            final[int(record["key"].split("/")[1])] = number(result.get("score"))
    return nodes, final


def dishonest(assets, competition):
    """Scripts that the library marks as leaky or as misbehaviour."""
    found = []
    for name in [competition, "common"]:
        folder = os.path.join(assets, "benchmark/offline", name, "playbook")
        with open(os.path.join(folder, "playbook.toml"), "rb") as file:
            contents = tomllib.load(file)
        marked = [entry for entry in contents.get("solution", []) if entry.get("leaky")]
        for entry in marked + contents.get("misbehaviour", []):
            with open(os.path.join(folder, entry["file"])) as file:
                found.append(file.read().strip())
    return found


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def test_score(options, competition, submission):
    ended = subprocess.run(
        [options.podium, "grade", "--competition", competition, submission, "--json", "--assets", options.assets],
        capture_output=True,
        text=True,
    )
    return number(json.loads(ended.stdout).get("score")) if ended.returncode == 0 else math.nan


def choices(nodes, final, better):
    """The node of each rule; one that has no node is left out."""

    def signal(node, source, field="value"):
        return next((number(s.get(field)) for s in node.get("signals", []) if s["source"] == source), math.nan)

    def best(candidates, value):
        ranked = [node for node in candidates if math.isfinite(value(node))]
        return sorted(ranked, key=lambda node: better * value(node))

    def careful(node):
        return signal(node, "folds") + better * (signal(node, "folds", "spread") or 0.0)

    by = {source: best(nodes, lambda node: signal(node, source)) for source in ["printed", "holdout", "folds"]}
    by["mean - spread"] = best(by["folds"][: TOP["mean - spread"]], careful)
    by["final slice"] = best(by["holdout"][: TOP["final slice"]], lambda node: final.get(node["id"], math.nan))
    both = lambda node: (signal(node, "holdout") + final.get(node["id"], math.nan)) / 2
    by["both slices"] = best(by["holdout"][: TOP["final slice"]], both)
    return {rule: ranked[0] for rule, ranked in by.items() if ranked}


def table(options):
    losses = {rule: [] for rule in RULES}
    competitions = catalog(options.assets)
    print(f"{'competition':<18}{'seed':>5}{'nodes':>6}{'best':>10}" + "".join(f"{rule:>16}" for rule in RULES))
    for folder in sorted(glob.glob(os.path.join(options.runs, "*"))):
        if not os.path.exists(os.path.join(folder, "run.json")):
            continue
        name, seed = os.path.basename(folder).rsplit("-", 1)
        competition = competitions[name]
        better = 1 if competition["metric"]["direction"] == "lower" else -1
        nodes, final = records(folder)
        nodes = [node for node in nodes if node["buggy"] is None]
        if options.honest:
            marked = dishonest(options.assets, name)
            nodes = [node for node in nodes if not any(script in node["code"] for script in marked)]
        scores = {}
        for node in nodes:
            submission = os.path.join(folder, "nodes", str(node["id"]), "submission.csv")
            scores[node["id"]] = test_score(options, name, submission)
        finite = [score for score in scores.values() if math.isfinite(score)]
        if not finite:
            print(f"{name:<18}{seed:>5}     0")
            continue
        best = min(finite, key=lambda score: better * score)
        room = abs(competition["board"]["sample_submission"] - best)
        row = f"{name:<18}{seed:>5}{len(nodes):>6}{best:>10.5f}"
        chosen = choices(nodes, final, better)
        shares = {}
        for rule in RULES:
            score = scores[chosen[rule]["id"]] if rule in chosen else math.nan
            shares[rule] = 100 * abs(score - best) / room
            row += f"{score:>10.5f}{shares[rule]:>5.1f}%"
        print(row, flush=True)
        # Paired: a run counts for all rules or for none.
        if all(math.isfinite(share) for share in shares.values()):
            for rule, share in shares.items():
                losses[rule].append(share)
    count = len(losses["printed"])
    print(f"\nselection loss in % of the way from the sample submission to the best node, mean ± SEM of {count} runs")
    for rule, shares in losses.items():
        if shares:
            sem = statistics.stdev(shares) / math.sqrt(count) if count > 1 else math.nan
            hit = sum(share == 0 for share in shares)
            paired = [share - printed for share, printed in zip(shares, losses["printed"])]
            gap = statistics.stdev(paired) / math.sqrt(count) if count > 1 else math.nan
            against = f"{statistics.mean(paired):+.2f} ± {gap:.2f} against printed"
            print(f"{rule:<16}{statistics.mean(shares):>7.2f} ± {sem:<6.2f} best node in {hit} of {count}   {against}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--podium", default="podium")
    parser.add_argument("--runs", required=True)
    parser.add_argument("--assets", default=".")
    parser.add_argument("--scaffold", default="aide-holdout")
    parser.add_argument("--honest", action="store_true")
    parser.add_argument("--competitions", nargs="*")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--time-limit", default="20m")
    parser.add_argument("--execution-limit", default="2m")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    options.runs, options.assets = os.path.abspath(options.runs), os.path.abspath(options.assets)
    os.makedirs(options.runs, exist_ok=True)
    {"run": run, "table": table}[options.command](options)


if __name__ == "__main__":
    main()
