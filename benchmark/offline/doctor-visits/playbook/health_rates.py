import os

import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold


def cells(frame):
    ages = pd.cut(frame["age"], [-1, 4, 17, 39, 99], labels=["baby", "child", "young", "old"]).astype(str)
    free = np.where(frame["coinsurance"] == 0, "free", "pays")
    return ages + frame["female"].astype(str) + free + frame["self_rated"]


def rate(known, wanted, weight=20):
    mean = known["visits"].mean()
    sums = known.groupby(cells(known))["visits"].agg(["sum", "count"])
    table = (sums["sum"] + weight * mean) / (sums["count"] + weight)
    return cells(wanted).map(table).fillna(mean).to_numpy()


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    oof = np.zeros(len(train))
    for a, b in GroupKFold(5).split(train, groups=train["household"]):
        oof[b] = rate(train.iloc[a], train.iloc[b])
    print("cells:", cells(train).nunique())
    test["visits"] = rate(train, test)
    os.makedirs("submission", exist_ok=True)
    test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_poisson_deviance: {mean_poisson_deviance(train['visits'], oof):.6f}")


if __name__ == "__main__":
    main()
