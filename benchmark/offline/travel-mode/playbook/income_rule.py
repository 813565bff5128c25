# A rule of thumb: people choose by generalised cost, and the more they earn the less they like the bus and the train.
import os

import pandas as pd

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")


def rank(rows):
    rows = rows.copy()
    rows["pain"] = rows["gc"] + rows["ttme"]
    rows["pain"] += rows["hinc"] * rows["mode"].map({"air": -0.5, "car": 0.0, "bus": 0.8, "train": 0.4})
    ordered = rows.sort_values(["traveller", "pain"])
    return ordered.groupby("traveller")["mode"].agg(" ".join)


taken = train[train["choice"] == 1].set_index("traveller")["mode"]
lists = rank(train).str.split()
score = sum(1 / (lists[t].index(mode) + 1) for t, mode in taken.items()) / len(taken)
os.makedirs("submission", exist_ok=True)
rank(test).rename("ranking").reset_index().to_csv("submission/submission.csv", index=False)
print(f"validation map_at_k: {score:.5f}")
