"""Makes data/ of `diamonds` from plotnine 0.15.9 (the diamonds of ggplot2)."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20262
ROWS, TEST_ROWS = 12000, 3000

source = pd.read_csv(pack.source_file("plotnine", "0.15.9", "plotnine/data/diamonds.csv"))
source = source.drop_duplicates().reset_index(drop=True)  # 146 equal rows are left out
rng = np.random.default_rng(SEED)
source = source.iloc[rng.permutation(len(source))[:ROWS]].reset_index(drop=True)
source.insert(0, "id", pack.salted_ids(ROWS, "diamonds-e90b"))
train, test = source[TEST_ROWS:], source[:TEST_ROWS]

sample = test[["id"]].assign(price=int(train["price"].median()))
pack.write(
    HERE,
    public={"train.csv": train, "test.csv": test.drop(columns="price"), "sample_submission.csv": sample},
    private={"answers.csv": test[["id", "price"]]},
)
