#!/usr/bin/env bash
# Every tree search on every offline competition, with the stand-in model: benchmark/policies.sh [OPTION=VALUE]...
#
#   podium=PATH     the program                          [target/release/podium]
#   out=FOLDER      runs and results; what is there is not run again [target/policies]
#   steps=N         steps of a run                       [20]
#   limit=TIME      of one execution                     [60s]; more on a busy machine
#   seeds="1 2 3"   seeds of each pair
#   jobs=N          runs at the same time                [the machine's processors]
#   scaffolds="…"   ids                                  [all tree searches]
#   competitions="…" ids                                 [all offline ones]
#   python=PATH     an interpreter with the packages of benchmark/environments/base.txt [the environment `base`]
#
# The tables go to standard output, one JSON line for each run to OUT/results.jsonl: means with standard errors over seeds,
# differences to `aide` on the same competitions and seeds, and how often a script that is wrong about itself was handed in.
# The stand-in is a library of solutions, no language model: that every policy works everywhere is shown, not which one is
# better.
set -euo pipefail
cd "$(dirname "$0")/.."
podium=target/release/podium out=target/policies steps=20 limit=60s seeds="1 2 3" jobs=$(nproc) scaffolds= competitions= python=
for option in "$@"; do
  case $option in
    podium=* | out=* | steps=* | limit=* | seeds=* | jobs=* | scaffolds=* | competitions=* | python=*) declare "$option" ;;
    *) sed -n '2,18s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
podium=$(realpath "$podium")
mkdir -p "$out/runs"
out=$(realpath "$out")
ids() { python3 -c 'import json, sys
for entry in json.load(sys.stdin):
    if entry.get("strategy", "tree_search") == "tree_search":
        print(entry["id"])'; }
[ -n "$scaffolds" ] || scaffolds=$("$podium" scaffolds list --json | ids)
[ -n "$competitions" ] || competitions=$("$podium" competitions list --split offline --json | ids)
for competition in $competitions; do
  "$podium" competitions prepare "$competition" --data-dir "$out/data" >/dev/null
done

# One run, unless it has ended before; one that was cut is resumed.
one() {
  local scaffold=$1 competition=$2 seed=$3 run="$out/runs/$1-$2-$3-$steps"
  if [ ! -e "$run/run.json" ]; then
    if [ -e "$run/config.json" ]; then
      "$podium" resume "$run" --json
    else
      "$podium" run --scaffold "$scaffold" --competition "$competition" --model playbook --seed "$seed" --steps "$steps" \
        --execution-limit "$limit" --memory 2GiB --cpus 1 --data-dir "$out/data" ${python:+--python "$python"} --into "$run" --json
    fi >"$run.out" 2>"$run.err" || echo "$scaffold on $competition, seed $seed: exit code $?, see $run.err" >&2
  fi
  echo "$scaffold on $competition, seed $seed: done" >&2
}
export -f one
export podium out steps limit python
for seed in $seeds; do
  for competition in $competitions; do
    for scaffold in $scaffolds; do printf '%s %s %s\0' "$scaffold" "$competition" "$seed"; done
  done
done | xargs -0 -P "$jobs" -I{} bash -c 'one {}'
python3 benchmark/policies.py "$out" "$steps" "$scaffolds" "$competitions" "$seeds"
