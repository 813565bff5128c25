"""Podium's preparation beside the official one: `python3 benchmark/preparation.py --mlebench CHECKOUT --python PYTHON`.

CHECKOUT is a folder with MLE-bench's repository (github.com/openai/mle-bench), PYTHON an interpreter that has what its
preparation imports (pandas, scikit-learn, py7zr, PyYAML, tqdm). Synthetic archives of real size are made once for three
competitions: a large table, many tiny files, a large text. From the archive to the prepared data, both do the same:
the official tool's `extract` and the competition's `prepare`, and `podium competitions prepare ID --archives DIR`.
Neither takes checksums. A table goes to standard output: wall time, processor time and peak memory of the whole process,
and whether what was prepared is the same byte for byte (archives: by what they hold). Of the many files there is a row
with the floor: what the kernel takes to make as many files of that size, and nothing else.

In a folder that is named (`--work`) the archives stay, and so does what was measured of the official tool: it is not run
again. `--official-only` and `--podium-only` measure one of the two.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmark/overhead"))
from measure import POLL, peak  # noqa: E402

# The bars: Podium over the official preparation.
TIMES, MEMORY = 5, 1 / 3

OFFICIAL = """
import importlib, sys
from pathlib import Path
identity, archive, home = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
from mlebench.utils import extract
raw, public, private = home / "raw", home / "prepared/public", home / "prepared/private"
for folder in (raw, public, private):
    folder.mkdir(parents=True)
extract(archive, raw)
importlib.import_module(f"mlebench.competitions.{identity}.prepare").prepare(raw=raw, public=public, private=private)
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def packed(path, files, level=1):
    """A zip of files, each a name and an iterable of texts or bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, pieces in files:
            with archive.open(name, "w", force_zip64=True) as member:
                for piece in pieces:
                    member.write(piece.encode() if isinstance(piece, str) else piece)


def taxi(path, rows):
    """Rides with a key each; the rest repeats after a while."""
    draw = random.Random(1)
    tails = []
    for _ in range(100_003):
        fare = draw.choice([4.5, 6.1, 7.7, 8.0, 16.9, 57.33, 12.1])
        place = [f"{base + draw.random() / 5:.{draw.choice([4, 6, 14])}f}" for base in (-74, 40.7, -74, 40.7)]
        stamp = f"{draw.randrange(2009, 2016)}-0{draw.randrange(1, 9)}-15 17:{draw.randrange(10, 60)}:21"
        tails.append(f",{fare},{stamp} UTC,{','.join(place)},{draw.randrange(1, 6)}\n")

    def lines():
        yield ("key,fare_amount,pickup_datetime,pickup_longitude,pickup_latitude,"
               "dropoff_longitude,dropoff_latitude,passenger_count\n")
        for begin in range(0, rows, 50_000):
            yield "".join(f"2009-06-15 17:26:21.{row:09}{tails[row % len(tails)]}"
                          for row in range(begin, min(rows, begin + 50_000)))

    packed(path, [("train.csv", lines()), ("GCP-Coupons-Instructions.rtf", ["{}"])])


def images(path, count):
    """Tiny files, four fifths of them with a label."""
    draw = random.Random(2)
    names = [hashlib.sha1(str(number).encode()).hexdigest() for number in range(count)]
    labelled = names[: count * 4 // 5]
    labels = "id,label\n" + "".join(f"{name},{draw.randrange(2)}\n" for name in labelled)
    files = [("train_labels.csv", [labels])]
    for number, name in enumerate(names):
        folder = "train" if number < len(labelled) else "test"
        files.append((f"{folder}/{name}.tif", [draw.randbytes(draw.randrange(900, 1800))]))
    packed(path, files)


def text(path, rows):
    """Sentences of a dozen tokens, some of which are read aloud in another way."""
    draw = random.Random(3)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randrange(2, 11))) for _ in range(60_000)]
    kinds = [("PLAIN", None), ("PUNCT", "."), ("DATE", "2006"), ("CARDINAL", "12"), ("LETTERS", "IUCN")]

    def lines():
        yield '"sentence_id","token_id","class","before","after"\n'
        sentence = token = 0
        block = []
        for _ in range(rows):
            kind, before = draw.choices(kinds, (75, 18, 3, 2, 2))[0]
            before = before or words[int(draw.random() ** 3 * len(words))]
            after = {"DATE": "two thousand six", "CARDINAL": "twelve", "LETTERS": "i u c n"}.get(kind, before)
            block.append(f'{sentence},{token},"{kind}","{before}","{after}"\n')
            token += 1
            if token > 6 and draw.random() < 0.12:
                sentence, token = sentence + 1, 0
            if len(block) == 50_000:
                yield "".join(block)
                block.clear()
        yield "".join(block)

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        inner = {"en_train.csv": lines(), "en_test_2.csv": ['"sentence_id"\n'],
                 "en_sample_submission_2.csv": ['"id"\n']}
        files = []
        for name, pieces in inner.items():
            packed(Path(folder) / f"{name}.zip", [(name, pieces)])
            files.append((f"{name}.zip", [(Path(folder) / f"{name}.zip").read_bytes()]))
        packed(path, files, level=0)


SETS = {
    "new-york-city-taxi-fare-prediction": (taxi, 10_000_000, "rows"),
    "histopathologic-cancer-detection": (images, 50_000, "files"),
    "text-normalization-challenge-english-language": (text, 9_918_441, "rows"),
}


def measured(command, environment, log):
    """Wall seconds, processor seconds and peak bytes of a command that must end well."""
    begun, most = time.monotonic(), 0
    with open(log, "wb") as output:
        child = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        # Of an ended child the kernel tells no less than what this process held when it began it.
        while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
            most = max(most, peak(child.pid) or 0)
            time.sleep(POLL)
        _, status, usage = ended
    took = time.monotonic() - begun
    if status:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{Path(log).read_text()[-3000:]}")
    return took, usage.ru_utime + usage.ru_stime, most


def digests(root):
    """What was prepared, by path; of archives by what they hold."""
    found = {}

    def digest(stream):
        return hashlib.file_digest(stream, "sha256").hexdigest()

    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    with archive.open(member) as stream:
                        found[f"{name}/{member}"] = digest(stream)
        elif path.is_file() and path.name != "description.md":
            with open(path, "rb") as stream:
                found[name] = digest(stream)
    return found


def one(identity, which, arguments, place, archives):
    """The best of some rounds, and what was prepared."""
    environment = {**os.environ, "PYTHONPATH": str(arguments.mlebench), "HOME": str(place)}
    best = None
    for again in range(arguments.rounds):
        # Files that were removed a moment ago make new ones slow (ext4 does not take their places yet): nothing is
        # removed before all is measured.
        home = Path(tempfile.mkdtemp(prefix=f"{which}-", dir=place / "results"))
        command = {
            "official": [arguments.python, "-c", OFFICIAL, identity, archives / f"{identity}.zip", home / identity],
            "podium": [arguments.podium, "competitions", "prepare", identity, "--archives", archives, "--data-dir",
                       home, "--skip-verification"],
        }[which]
        os.sync()
        say(f"{identity}: {which}, round {again + 1}")
        result = measured(command, environment, place / "log")
        best = result if best is None else tuple(map(min, best, result))
    return {"best": best, "digests": digests(home / identity / "prepared")}


FLOOR = """
import os, sys
folder, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.mkdir(folder)
content, at = bytes(size), os.open(folder, os.O_RDONLY)
for number in range(count):
    file = os.open(f"{number:040x}.tif", os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=at)
    os.write(file, content)
    os.close(file)
"""


def floor(count, size, python, place):
    """Wall and processor seconds of making so many files of so many bytes in one folder."""
    home = Path(tempfile.mkdtemp(prefix="floor-", dir=place / "results"))
    os.sync()
    took, processor, _ = measured([python, "-c", FLOOR, home / "floor", str(count), str(size)], None, place / "log")
    return took, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mlebench", type=Path, required=True, help="a checkout of MLE-bench")
    parser.add_argument("--python", required=True, help="an interpreter that has what it imports")
    parser.add_argument("--podium", type=Path, default=ROOT / "target/release/podium")
    parser.add_argument("--work", type=Path, default=None, help="where archives and results go (about 5 GB)")
    parser.add_argument("--only", help="one of the competitions")
    parser.add_argument("--official-only", action="store_true")
    parser.add_argument("--podium-only", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the sizes, to try it out")
    arguments = parser.parse_args()
    work = arguments.work or Path(tempfile.mkdtemp(prefix="podium-preparation-"))
    archives, failed = work / "archives", False
    archives.mkdir(parents=True, exist_ok=True)
    (work / "results").mkdir(exist_ok=True)
    print("| competition | size | | wall time | processor time | peak memory | same data |\n|---|---|---|---|---|---|---|")
    for identity, (make, count, unit) in SETS.items():
        if arguments.only not in (None, identity):
            continue
        count = int(count * arguments.scale)
        archive = archives / f"{identity}.zip"
        if not archive.exists():
            say(f"{identity}: making {count} {unit}")
            # In a process of its own: its memory must not count as that of what is measured.
            half = archive.with_suffix(".half")
            child = os.fork()
            if child == 0:
                make(half, count)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                sys.exit("the archive could not be made")
            half.rename(archive)
        kept = work / f"{identity}.official.json"
        if not kept.exists() and not arguments.podium_only:
            kept.write_text(json.dumps(one(identity, "official", arguments, work, archives)))
        official = json.loads(kept.read_text()) if kept.exists() else None
        ours = None if arguments.official_only else one(identity, "podium", arguments, work, archives)
        same = official and ours and official["digests"] == ours["digests"]
        for which, found in [("official", official), ("podium", ours)]:
            if found is None:
                continue
            wall, processor, peak = found["best"]
            is_first = which == "official" or official is None
            size = f"{count:,} {unit}, {archive.stat().st_size / 1e6:.0f} MB packed" if is_first else ""
            told = "" if which == "official" or official is None else "yes" if same else "NO"
            print(f"| {identity if size else ''} | {size} | {which} | {wall:.1f} s | {processor:.1f} s "
                  f"| {peak / 2**20:.0f} MiB | {told} |")
        if official and ours:
            of, our = official["best"], ours["best"]
            print(f"| | | | {of[0] / our[0]:.1f} times faster | {of[1] / our[1]:.1f} times "
                  f"| {our[2] / of[2]:.2f} of it | |", flush=True)
            failed |= not same or of[0] / our[0] < TIMES or our[2] / of[2] > MEMORY
        if unit == "files" and ours:
            wall, processor = floor(count * 4 // 5, 1350, arguments.python, work)
            print(f"| | | floor: making {count * 4 // 5:,} files | {wall:.1f} s | {processor:.1f} s | | |", flush=True)
        if arguments.work is None:
            archive.unlink()
    shutil.rmtree(work / "results")
    say(f"bars: {TIMES} times faster, {MEMORY:.2f} of the memory: {'NOT met' if failed else 'met'}")


if __name__ == "__main__":
    main()
