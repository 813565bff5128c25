import os

import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold

STEPS = [-1, 0, 1, 2, 3, 4, 6, 8, 11, 15, 22, 1000]


def group(frame):
    step = np.digitize(frame["visits_before"], STEPS, right=True)
    return pd.Series(step * 2 + (frame["coinsurance"] > 0), index=frame.index)


def predict(known, wanted):
    mean = known["visits"].mean()
    cell = known.groupby(group(known))["visits"].agg(["sum", "count"])
    base = (cell["sum"] + 8 * mean) / (cell["count"] + 8)
    expected = group(known).map(base)
    health = known.groupby("self_rated")["visits"].sum() / expected.groupby(known["self_rated"]).sum()
    return (group(wanted).map(base).fillna(mean) * wanted["self_rated"].map(health)).to_numpy()


train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
values = []
for a, b in GroupKFold(5).split(train, groups=train["household"]):
    values.append(mean_poisson_deviance(train["visits"].iloc[b], predict(train.iloc[a], train.iloc[b])))
    print("fold", len(values), round(values[-1], 4))
test["visits"] = predict(train, test)
os.makedirs("submission", exist_ok=True)
test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {np.mean(values):.6f}")
