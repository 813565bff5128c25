"""Makes data/ of `travel-mode` from statsmodels 0.15.0 (Greene's table F18-2)."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20266
MODES = {1: "air", 2: "train", 3: "bus", 4: "car"}
FACTS = ["ttme", "invc", "invt", "gc", "hinc", "psize"]

path = pack.source_file("statsmodels", "0.15.0", "statsmodels/datasets/modechoice/modechoice.csv")
source = pd.read_csv(path, sep=";").astype(int)
source["mode"] = source["mode"].map(MODES)
ids = pack.salted_ids(source["individual"].nunique(), "travel-mode-b3c5")
source["traveller"] = [ids[i - 1] for i in source["individual"]]

# Half of those who chose each mode; of the two odd numbers the train's is rounded up.
rng = np.random.default_rng(SEED)
chosen = source[source["choice"] == 1]
test_travellers = set()
for mode in MODES.values():
    travellers = rng.permutation(chosen.loc[chosen["mode"] == mode, "traveller"])
    test_travellers |= set(travellers[: (len(travellers) + (mode == "train")) // 2])

rows = source[["traveller", "mode"] + FACTS + ["choice"]].sort_values(["traveller", "mode"])
in_test = rows["traveller"].isin(test_travellers)
test = rows[in_test]
answers = test[test["choice"] == 1].rename(columns={"mode": "ranking"})[["traveller", "ranking"]]
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "train.csv": rows[~in_test],
        "test.csv": test.drop(columns="choice"),
        "sample_submission.csv": answers.assign(ranking="air bus car train"),
    },
    private={"answers.csv": answers},
)
