import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
RISING = ["visits_before", "drug_cost_before", "hospital_stays_before"]
DROPPED = ["id", "person", "household", "visits"]


def encode(frame):
    X = frame.drop(columns=DROPPED, errors="ignore")
    return X.assign(self_rated=X["self_rated"].map(["excellent", "good", "fair", "poor"].index))


def model():
    return HistGradientBoostingRegressor(
        loss="poisson", learning_rate=0.04, max_iter=140, max_leaf_nodes=6, min_samples_leaf=60, l2_regularization=5,
        monotonic_cst={name: 1 for name in RISING}, early_stopping=False, random_state=67,
    )


X, y = encode(train), train["visits"]
oof = pd.Series(0.0, index=train.index)
for a, b in GroupKFold(5).split(X, groups=train["household"]):
    oof.iloc[b] = model().fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b])
print("mean prediction", round(oof.mean(), 3), "mean count", round(y.mean(), 3))
test["visits"] = model().fit(X, y).predict(encode(test))
os.makedirs("submission", exist_ok=True)
test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {mean_poisson_deviance(y, oof):.6f}")
