"""The results of `policies.sh` as tables: `policies.py OUT STEPS "SCAFFOLDS" "COMPETITIONS" "SEEDS" [PLAYBOOKS]`.

A seed is one observation: its figure is the mean over the competitions, and a standard error is that of the seeds. With
one seed there is none. Competitions of one seed are no independent tries: the stand-in draws alike in all of them.
"""
import json
import statistics
import sys
import tomllib
from pathlib import Path

out, steps = Path(sys.argv[1]), sys.argv[2]
scaffolds, competitions, seeds = (words.split() for words in sys.argv[3:6])
playbooks = Path(sys.argv[6]) if len(sys.argv) > 6 else Path(__file__).parent / "offline"
MEDALS = ["gold", "silver", "bronze"]
BASE = "aide"


def dishonest(competition):
    """The library's scripts that are wrong about themselves on purpose."""
    scripts = []
    for folder in (competition, "common"):
        contents = playbooks / folder / "playbook" / "playbook.toml"
        if not contents.exists():
            continue
        book = tomllib.loads(contents.read_text())
        wrong = [entry for entry in book.get("solution", []) if entry.get("leaky")] + book.get("misbehaviour", [])
        scripts += [(contents.parent / entry["file"]).read_text().strip() for entry in wrong]
    return scripts


def result(scaffold, competition, seed):
    """One run's line; its outcome is `missing` where it has no report."""
    line = {"scaffold": scaffold, "competition": competition, "seed": int(seed), "outcome": "missing"}
    folder = out / "runs" / f"{scaffold}-{competition}-{seed}-{steps}"
    if not (folder / "run.json").exists():
        return line
    run = json.loads((folder / "run.json").read_text())
    report, nodes = run.get("report") or {}, run["nodes"]
    medal = next((medal for medal in MEDALS if report.get(f"{medal}_medal")), None)
    solution = folder / "best" / "solution.py"
    code = solution.read_text() if solution.exists() else ""
    return {
        **line, "outcome": run["outcome"], "stopped_by": run["stopped_by"], "score": report.get("score"), "medal": medal,
        "percentile": report.get("percentile"), "valid": report.get("valid_submission", False), "steps": nodes["total"],
        "lower": report.get("is_lower_better"), "buggy": nodes["buggy"], "wall_s": run["time"]["run_s"],
        "dishonest": any(script in code for script in dishonest(competition)),
    }


def numbers(values):
    return [value for value in values if isinstance(value, (int, float))]


def shown(values, digits="{:.4g}"):
    """Mean and standard error, as far as there are values."""
    values = numbers(values)
    if not values:
        return "–"
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.2g}" if len(values) > 1 else ""
    return digits.format(statistics.mean(values)) + error


runs = [result(*of) for of in ((s, c, seed) for s in scaffolds for c in competitions for seed in seeds)]
(out / "results.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
at = {(run["scaffold"], run["competition"], str(run["seed"])): run for run in runs}


def standing(scaffold, competition, seed):
    """The share of the board that a run is better than; one that ended without a score is better than nobody."""
    run = at[scaffold, competition, seed]
    return None if run["outcome"] == "missing" else run.get("percentile") or 0.0


def by_seed(figure):
    """For each seed the mean of `figure(competition, seed)` over the competitions that have one."""
    of = {seed: numbers(figure(competition, seed) for competition in competitions) for seed in seeds}
    return [statistics.mean(values) for values in of.values() if values]


def lead(scaffold, competition, seed):
    """By how much it is better than the base in the same competition with the same seed, in points of the board."""
    own, base = standing(scaffold, competition, seed), standing(BASE, competition, seed)
    return None if own is None or base is None else own - base


def duel(scaffold):
    """Pairs of runs in which its test score is better, equal and worse than the base's."""
    counts = [0, 0, 0]
    for competition in competitions:
        for seed in seeds:
            own, base = at[scaffold, competition, seed], at[BASE, competition, seed]
            if not numbers([own.get("score")]) or not numbers([base.get("score")]):
                continue
            ahead = own["score"] - base["score"]
            ahead = -ahead if own["lower"] else ahead
            counts[0 if ahead > 0 else 1 if ahead == 0 else 2] += 1
    return "–".join(map(str, counts))


print(f"{len(competitions)} competitions, {len(seeds)} seeds, {steps} steps; mean ± standard error over seeds\n")
print(
    "| scaffold | graded | gold, silver, bronze | better than, of the board, % | less aide's, paired, points | "
    "test score better–equal–worse than aide's | dishonest script handed in | buggy nodes | run time |"
)
print("|" + "---|" * 9)
for scaffold in scaffolds:
    own = [run for run in runs if run["scaffold"] == scaffold]
    done = [run for run in own if run["outcome"] != "missing"]
    medals = ", ".join(str(len([run for run in done if run["medal"] == medal])) for medal in MEDALS)
    total, buggy = sum(run["steps"] for run in done), sum(run["buggy"] for run in done)
    paired = scaffold != BASE and BASE in scaffolds
    cells = [
        scaffold, f"{len([run for run in done if run['outcome'] == 'graded'])} of {len(own)}", medals,
        shown(by_seed(lambda competition, seed: standing(scaffold, competition, seed)), "{:.1f}"),
        shown(by_seed(lambda competition, seed: lead(scaffold, competition, seed)), "{:+.1f}") if paired else "–",
        duel(scaffold) if paired else "–", f"{len([run for run in done if run['dishonest']])} of {len(done)}",
        f"{100 * buggy / total:.0f} %" if total else "–", f"{sum(run['wall_s'] for run in done):.0f} s",
    ]
    print("| " + " | ".join(map(str, cells)) + " |")

print("\n| test score, mean ± standard error | " + " | ".join(scaffolds) + " |")
print("|---|" + "---|" * len(scaffolds))
for competition in competitions:
    cells = [shown(at[scaffold, competition, seed].get("score") for seed in seeds) for scaffold in scaffolds]
    print(f"| {competition} | " + " | ".join(cells) + " |")
odd = [run for run in runs if run["outcome"] != "graded"]
if odd:
    print(f"{len(odd)} runs were not graded; see {out / 'results.jsonl'}", file=sys.stderr)
