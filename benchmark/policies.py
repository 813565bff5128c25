"""The results of `policies.sh` as tables: `policies.py OUT STEPS "SCAFFOLDS" "COMPETITIONS" "SEEDS"`."""
import json
import statistics
import sys
from pathlib import Path

out, steps = Path(sys.argv[1]), sys.argv[2]
scaffolds, competitions, seeds = (words.split() for words in sys.argv[3:6])
MEDALS = ["gold", "silver", "bronze"]


def result(scaffold, competition, seed):
    """One run's line; its outcome is `missing` where it has no report."""
    line = {"scaffold": scaffold, "competition": competition, "seed": int(seed), "outcome": "missing"}
    path = out / "runs" / f"{scaffold}-{competition}-{seed}-{steps}" / "run.json"
    if not path.exists():
        return line
    run = json.loads(path.read_text())
    report, nodes = run.get("report") or {}, run["nodes"]
    medal = next((medal for medal in MEDALS if report.get(f"{medal}_medal")), None)
    return {
        **line, "outcome": run["outcome"], "stopped_by": run["stopped_by"], "score": report.get("score"), "medal": medal,
        "percentile": report.get("percentile"), "valid": report.get("valid_submission", False), "steps": nodes["total"],
        "buggy": nodes["buggy"], "wall_s": run["time"]["run_s"],
    }


def mean(values):
    values = [value for value in values if isinstance(value, (int, float))]
    return statistics.mean(values) if values else None


def spread(values):
    """Mean and standard error, as far as there are values."""
    values = [value for value in values if isinstance(value, (int, float))]
    if not values:
        return "–"
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.2g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4g}{error}"


runs = [result(*of) for of in ((s, c, seed) for s in scaffolds for c in competitions for seed in seeds)]
(out / "results.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))

print("| scaffold | runs | graded | valid | gold, silver, bronze | better than, of the board | steps | buggy | run time |")
print("|---|---|---|---|---|---|---|---|---|")
for scaffold in scaffolds:
    own = [run for run in runs if run["scaffold"] == scaffold]
    done = [run for run in own if run["outcome"] != "missing"]
    medals = ", ".join(str(len([run for run in done if run["medal"] == medal])) for medal in MEDALS)
    share = mean([run["percentile"] for run in done])
    total, buggy = sum(run["steps"] for run in done), sum(run["buggy"] for run in done)
    cells = [
        scaffold, len(own), len([run for run in done if run["outcome"] == "graded"]),
        len([run for run in done if run["valid"]]), medals, f"{share:.1f} %" if share is not None else "–", total,
        f"{100 * buggy / total:.0f} %" if total else "–", f"{sum(run['wall_s'] for run in done):.0f} s",
    ]
    print("| " + " | ".join(map(str, cells)) + " |")

print("\n| score, mean ± standard error | " + " | ".join(scaffolds) + " |")
print("|---|" + "---|" * len(scaffolds))
for competition in competitions:
    cells = [
        spread([run.get("score") for run in runs if (run["scaffold"], run["competition"]) == (scaffold, competition)])
        for scaffold in scaffolds
    ]
    print(f"| {competition} | " + " | ".join(cells) + " |")
if any(run["outcome"] != "graded" for run in runs):
    odd = [run for run in runs if run["outcome"] != "graded"]
    print(f"{len(odd)} runs were not graded; see {out / 'results.jsonl'}", file=sys.stderr)
