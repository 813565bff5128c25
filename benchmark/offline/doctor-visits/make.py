"""Makes data/ of `doctor-visits` from statsmodels 0.15.0 (the original table of the RAND experiment)."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20264
TEST_ROWS, TRAIN_ROWS = 2500, 7000

path = "statsmodels/datasets/randhie/src/randhie.csv"
source = pd.read_csv(pack.source_file("statsmodels", "0.15.0", path)).sort_values(["zper", "year"], kind="stable")

# Each row is a person's study year, with what is known from the year before.
before = source.groupby("zper")
last_year = before["year"].shift()
table = pd.DataFrame({
    "person": source["zper"],
    "household": source.groupby(["site", "plan", "income"]).ngroup(),
    "study_year": source["year"],
    "site": source["site"],
    "coinsurance": source["coins"].astype(int),
    "deductible_plan": source["idp"],
    "max_spend": source["mdeoff"],
    "incentive": source["pioff"],
    "age": source["xage"].round(1),
    "female": source["female"],
    "income": source["income"].round(0).astype(int),
    "head_education": source["educdec"],
    "family_size": source["num"],
    "mental_health": source["mhi"],
    "health_index": source["ghindx"],
    "chronic": source["disea"].round(2),
    "limited": source["physlm"].round(2),
    "self_rated": np.select([source["hlthg"] == 1, source["hlthf"] == 1, source["hlthp"] == 1], ["good", "fair", "poor"], "excellent"),
    "visits_before": before["mdvis"].shift(),
    "other_visits_before": before["notmdvis"].shift(),
    "hospital_stays_before": before["totadm"].shift(),
    "drug_cost_before": before["drugdol"].shift().round(2),
    "visits": source["mdvis"],
})
table = table[(last_year == source["year"] - 1) & (source["time"] == 1)]
counts = ["visits_before", "other_visits_before", "hospital_stays_before"]
table[counts] = table[counts].astype(int)

# Whole households are hidden. A hidden person has one row, for its next year's row would tell this year's visits.
rng = np.random.default_rng(SEED)
table = table.iloc[rng.permutation(len(table))]
order = rng.permutation(np.sort(table["household"].unique()))
place = pd.Series(range(len(order)), index=order)
by_household = table.sort_values("household", key=lambda column: column.map(place), kind="stable")
test = by_household.drop_duplicates("person")[:TEST_ROWS]
test = test.iloc[rng.permutation(len(test))]
train = table[~table["household"].isin(test["household"])][:TRAIN_ROWS]
assert len(test) == TEST_ROWS and len(train) == TRAIN_ROWS

both = pd.concat([train, test])
for name in ["person", "household"]:
    known = rng.permutation(both[name].unique())
    both[name] = both[name].map(dict(zip(known, pack.salted_ids(len(known), f"doctor-visits-{name}-41aa", 8))))
both.insert(0, "id", pack.salted_ids(len(both), "doctor-visits-b2c7"))
train, test = both[:TRAIN_ROWS], both[TRAIN_ROWS:]

pack.write(
    HERE,
    public={
        "train.csv": train,
        "test.csv": test.drop(columns="visits"),
        "sample_submission.csv": test[["id"]].assign(visits=1.0),
    },
    private={"answers.csv": test[["id", "visits"]]},
)
