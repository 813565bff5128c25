"""Makes data/ of `license-families` from licensedcode-data 32.1.0 (ScanCode licence texts and rules)."""
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20267
TEST_ROWS = 1050
MAX_ROWS = 600  # of one family
WORDS = 32  # of one excerpt
MIN_WORDS = 15
MAX_EXCERPTS = 4  # of one text
FAMILIES = {
    "agpl": r"agpl-.*",
    "apache": r"apache-.*",
    "bsd": r"bsd-.*",
    "creative-commons": r"cc-by.*",
    "gfdl": r"gfdl-.*",
    "gpl": r"gpl-.*",
    "lgpl": r"lgpl-.*",
    "mit": r"(mit|x11)(-.*)?",
    "mpl": r"(mpl|npl|cddl)-.*",
    "public-domain": r"(public-domain|cc0|unlicense|wtfpl).*",
}
COMMON = {"the", "of", "and", "to", "or", "is", "in", "this", "a", "for", "any", "under", "by", "be", "that"}


def read(path):
    """(family or None, text) of one file: a header between two lines of dashes, then the text."""
    header, text = re.fullmatch(r"---\n(.*?)\n---\n?(.*)", path.read_text(encoding="utf8"), re.S).groups()
    name = re.search(r"^(?:license_expression|key): (\S+)$", header, re.M)
    families = [f for f, pattern in FAMILIES.items() if name and re.fullmatch(pattern, name[1])]
    return (families or [None])[0], text


def excerpts(text, rng):
    words = text.split()
    if len(words) < MIN_WORDS:
        return
    for _ in range(min(MAX_EXCERPTS, max(1, len(words) // (3 * WORDS)))):
        start = rng.integers(0, max(1, len(words) - WORDS + 1))
        yield " ".join(words[start : start + WORDS])


def triples(text):
    words = re.findall(r"[a-z]+", text.lower())
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def is_english(text):
    return len(COMMON & set(text.lower().split())) >= 3


class Seen:
    """The word triples of all excerpts kept so far."""

    def __init__(self):
        self.sizes, self.holders = [], defaultdict(list)

    def has_near_copy(self, shingles):
        shared = Counter(i for triple in shingles for i in self.holders[triple])
        return any(n >= 0.5 * (len(shingles) + self.sizes[i] - n) for i, n in shared.items())

    def add(self, shingles):
        for triple in shingles:
            self.holders[triple].append(len(self.sizes))
        self.sizes.append(len(shingles))


folder = pack.source_file("licensedcode-data", "32.1.0", "licensedcode/data")
paths = sorted(folder.glob("rules/*.RULE")) + sorted(folder.glob("licenses/*.LICENSE"))
rng = np.random.default_rng(SEED)
seen, per_family, kept = Seen(), Counter(), []
for path in rng.permutation(paths):
    family, text = read(path)
    for excerpt in excerpts(text, rng) if family else ():
        shingles = triples(excerpt)
        if per_family[family] < MAX_ROWS and is_english(excerpt) and not seen.has_near_copy(shingles):
            seen.add(shingles)
            per_family[family] += 1
            kept.append((path.name, excerpt, family))
rows = pd.DataFrame(kept, columns=["source", "text", "family"])

# All excerpts of one text are on the same side: whole texts are moved to the test set until it is full.
sizes = rows.groupby("source").size()
sizes = sizes.loc[rng.permutation(sizes.index)]
test_sources = set(sizes.index[sizes.cumsum() <= TEST_ROWS])
rows["id"] = pack.salted_ids(len(rows), "license-families-0af9")
rows = rows.sort_values("id")
in_test = rows["source"].isin(test_sources)
train, test = [part[["id", "text", "family"]] for part in (rows[~in_test], rows[in_test])]
print(len(train), "train,", len(test), "test:", dict(test["family"].value_counts()))
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "train.csv": train,
        "test.csv": test[["id", "text"]],
        "sample_submission.csv": test[["id"]].assign(family="gpl"),
    },
    private={"answers.csv": test[["id", "family"]]},
)
