"""Which functions of the program lie beside each other: `python3 benchmark/layout/layout.py --podium PROGRAM --map MAP`.

The program has some 20 MB of code, of which a grading executes one. The kernel maps the code around each page that is
used, so that functions spread over the whole program make most of it resident. This runs the program as it is used
(grading, a run, preparation), notes which functions were executed (`executed.py`), and writes their names to
`program.ld`, a linker script that `build.rs` gives to LLD: these come first, those of all uses before those of one.

Names stand there with the package that they were compiled in and without the hashes that the compiler puts in them, so
that the list outlives changes of versions and of code; a function that is new or has another name lies elsewhere until
the list is made anew. PROGRAM and the linker's map of it are made so:

    PODIUM_LAYOUT=off cargo rustc --release --bin podium -- -Clink-arg=-Wl,-Map=program.map
"""
import argparse
import collections
import json
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "benchmark/overhead"))
sys.path.insert(0, str(ROOT / "benchmark"))
from measure import Server, podium, prepare  # noqa: E402

import preparation  # noqa: E402
import executed  # noqa: E402

# In this order: what a single grading takes lies together, and beside it what those of other competitions take.
USES = ("grade", "grades", "run", "prepare")
# For each function that is executed, so many bytes of others that share its name are put up with.
UNUSED = 2048
# A function in the linker's map: its address, its size, the object file, its name.
FUNCTION = re.compile(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ +(\S+):\(\.text\.(\S+)\)$")
# What differs from build to build in names of either kind of mangling.
HASHES = re.compile(r"(?<=17h)[0-9a-f]{16}E.*$|(?<=Cs)[0-9A-Za-z]+_|B[0-9A-Za-z]*_|\.llvm\.\d+$")
# The package of an object file.
PACKAGE = re.compile(r"([A-Za-z0-9_]+)\.[0-9a-f]{16}-cgu\.")


class Uses:
    """The program at work, by use: the functions that were executed."""

    def __init__(self, program, functions, place):
        self.program, self.functions, self.place = program, functions, place
        self.executed = collections.defaultdict(set)

    def take(self, use, *arguments, env=None, folder=None):
        print(f"{use}: {' '.join(map(str, arguments))}"[:150], file=sys.stderr, flush=True)
        with open(self.place / "errors", "w+b") as errors:
            code, found = executed.executed(self.program, arguments, self.functions, env=env, cwd=folder or self.place,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
            if code not in (0, 1):
                errors.seek(0)
                sys.exit(f"it ended with {code}:\n{errors.read().decode(errors='replace')[-3000:]}")
        self.executed[use] |= found


def gradings(uses):
    """A large submission alone, and every one of the graders' oracle in a list."""
    draw, identity = random.Random(1), "tabular-playground-series-may-2022"
    large = {name: uses.place / f"{name}.csv" for name in ("submission", "answers")}
    for path, cell in zip(large.values(), (draw.random, lambda: draw.randrange(2))):
        path.write_text("id,target\n" + "".join(f"{row},{cell()}\n" for row in range(100_000)))
    for more in [], ["--json"]:
        uses.take("grade", "grade", "-c", identity, large["submission"], "--answers", large["answers"], *more)
    data, lines = uses.place / "data", []
    for archive in sorted((ROOT / "benchmark/oracle").glob("*.tar.gz")):
        identity = archive.name.removesuffix(".tar.gz")
        folder = uses.place / "oracle" / identity
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        cases = json.loads((folder / "cases.json").read_text())
        answers = collections.Counter(case["answers"] for case in cases).most_common(1)[0][0]
        entry = tomllib.loads((ROOT / f"benchmark/competitions/{identity}.toml").read_text())
        private = data / identity / "prepared/private" / entry["answers"]["file"]
        private.parent.mkdir(parents=True, exist_ok=True)
        private.write_bytes((folder / answers).read_bytes())
        for case in (case for case in cases if case["answers"] == answers):
            submission = folder / case["submission"]
            lines.append(json.dumps({"competition_id": identity, "submission_path": str(submission)}))
    listed = uses.place / "list.jsonl"
    listed.write_text("\n".join(lines))
    uses.take("grades", "grade", "--jsonl", listed, "--output", "results", "--data-dir", data)


def runs(uses):
    """Some steps of AIDE against a stand-in server."""
    place = uses.place / "run"
    place.mkdir()
    env = prepare(uses.program, place)
    with Server() as server:
        command = podium(uses.program, place, sys.executable, 8, [])
        uses.take("run", *command[1:], env={**env, "OPENAI_BASE_URL": f"{server.url}/run/v1"}, folder=place)


def preparations(uses):
    """The sets of `preparation.py`, small."""
    archives = uses.place / "archives"
    archives.mkdir()
    for identity, (make, _, unit) in preparation.SETS.items():
        make(archives / f"{identity}.zip", 20_000 if unit == "rows" else 300)
        uses.take("prepare", "competitions", "prepare", identity, "--archives", archives, "--data-dir",
                  uses.place / "prepared", "--skip-verification")


def functions(linked):
    """The functions by the linker's map, by address: size, object files by a pattern, names by a pattern."""
    found = {}
    with open(linked) as lines:
        for line in lines:
            if match := FUNCTION.match(line):
                begin, size, file, name = match.groups()
                package = PACKAGE.search(file.rsplit("/", 1)[-1])
                files = f"*.{package[1]}.*-cgu.*" if package else f"*{re.split('[-/(]', file)[-1].rstrip(')')}*"
                found[int(begin, 16)] = int(size, 16), files, HASHES.sub("*", name)
    return found


def script(uses):
    """The text of the linker script, and what it is about in figures."""
    whole, used = collections.Counter(), collections.defaultdict(lambda: collections.defaultdict(set))
    for size, *pattern in uses.functions.values():
        whole[tuple(pattern)] += size
    for use, begins in uses.executed.items():
        for begin in begins:
            used[tuple(uses.functions[begin][1:])][use].add(begin)
    groups, sizes = collections.defaultdict(lambda: collections.defaultdict(list)), collections.Counter()
    for pattern, by_use in used.items():
        begins = set().union(*by_use.values())
        executed = sum(uses.functions[begin][0] for begin in begins)
        # What a single grading takes lies together, then what the rest does.
        group = tuple(use not in by_use for use in USES)
        if whole[pattern] - executed > UNUSED * len(begins):
            group = None
        else:
            groups[group][pattern[0]].append(pattern[1])
        sizes[group, "executed"] += executed
        sizes[group, "taken"] += whole[pattern] if group else 0
    lines = ["/* Made by layout.py: functions that are executed, those of most uses first. */", "SECTIONS {", "  .text.used : {"]
    for group, packages in sorted(groups.items()):
        lines.append(f"    /* {described(group)} */")
        for files, names in sorted(packages.items()):
            lines += [f"    {files}(", *(f"      .text.{name}" for name in sorted(names)), "    )"]
    return "\n".join([*lines, "  }", "} INSERT BEFORE .text;", ""]), sizes


def described(group):
    return ", ".join(use for use, absent in zip(USES, group) if not absent) if group else "left out"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--podium", type=Path, default=ROOT / "target/release/podium")
    parser.add_argument("--map", type=Path, required=True, help="the linker's map of the program")
    parser.add_argument("--output", type=Path, default=HERE / "program.ld")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="podium-layout-") as place:
        uses = Uses(arguments.podium.resolve(), functions(arguments.map), Path(place))
        runs(uses)
        gradings(uses)
        preparations(uses)
        text, sizes = script(uses)
    arguments.output.write_text(text)
    for group in sorted({group for group, _ in sizes}, key=str):
        executed, taken = (sizes[group, what] / 2**10 for what in ("executed", "taken"))
        print(f"{executed:8.0f} KiB executed {taken:8.0f} KiB taken  {described(group)}")


if __name__ == "__main__":
    main()
