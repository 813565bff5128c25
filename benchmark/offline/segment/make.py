"""Makes data/ of `segment` from river 0.26.1 (UCI Image Segmentation)."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20261
TEST_ROWS = 1000

source = pd.read_csv(pack.source_file("river", "0.26.1", "river/datasets/segment.csv.zip"))
source.columns = source.columns.str.replace("-", "_").str.replace("vegde", "vedge")
features = [c for c in source if c != "category"]
classes = sorted(source["category"].unique())

# Equal windows occur more than once: all copies go to the same side. Each class has its share in the test set.
rng = np.random.default_rng(SEED)
copies = source.groupby(features, sort=False).ngroup()
in_test = np.zeros(len(source), bool)
for number, name in enumerate(classes):
    want = TEST_ROWS * (number + 1) // len(classes) - TEST_ROWS * number // len(classes)
    groups = copies[source["category"] == name].unique()
    for group in rng.permutation(groups):
        members = (copies == group).to_numpy()
        if members.sum() <= want:
            in_test |= members
            want -= members.sum()
    assert want == 0

order = rng.permutation(len(source))
source, in_test = source.iloc[order], in_test[order]
source.insert(0, "id", pack.salted_ids(len(source), "segment-7c1f"))
train, test = source[~in_test], source[in_test]

answers = test[["id"]].copy()
sample = test[["id"]].copy()
for name in classes:
    answers[name] = (test["category"] == name).astype(int)
    sample[name] = round(1 / len(classes), 6)

pack.write(
    HERE,
    public={"train.csv": train, "test.csv": test.drop(columns="category"), "sample_submission.csv": sample},
    private={"answers.csv": answers},
)
