"""Makes data/ of `digits` from scikit-learn 1.7.2 (UCI handwritten digits)."""
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20262
TEST_ROWS = 1000


def png(pixels):
    out = io.BytesIO()
    grey = np.round(pixels * 255 / 16).astype(np.uint8)
    Image.fromarray(grey).save(out, format="PNG", optimize=True)
    return out.getvalue()


def zipped(images):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(images):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), images[name])
    return out.getvalue()


source = pd.read_csv(pack.source_file("scikit-learn", "1.7.2", "sklearn/datasets/data/digits.csv.gz"), header=None)
images, digits = source.iloc[:, :64].to_numpy().reshape(-1, 8, 8), source[64].to_numpy(int)
rows = pd.DataFrame({"id": pack.salted_ids(len(source), "digits-9e27"), "digit": digits})

# Each digit has its share in the test set.
rng = np.random.default_rng(SEED)
in_test = np.zeros(len(rows), bool)
for digit in range(10):
    want = TEST_ROWS * (digit + 1) // 10 - TEST_ROWS * digit // 10
    in_test[rng.permutation(np.flatnonzero(digits == digit))[:want]] = True

folders = np.where(in_test, "test", "train")
files = {f"{folder}/{name}.png": png(image) for folder, name, image in zip(folders, rows["id"], images)}
train, answers = rows[~in_test].sort_values("id"), rows[in_test].sort_values("id")
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "images.zip": zipped(files),
        "train.csv": train,
        "test.csv": answers[["id"]],
        "sample_submission.csv": answers.assign(digit=0),
    },
    private={"answers.csv": answers},
)
