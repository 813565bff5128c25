"""Gradient boosting on single offers that are compared with the traveller's other offers."""
import os

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GroupKFold

FACTS = ["ttme", "invc", "invt", "gc"]


def compare(rows):
    table = rows[FACTS + ["hinc", "psize"]].copy()
    grouped = rows.groupby("traveller")
    for fact in FACTS:
        table[fact + "_to_least"] = rows[fact] - grouped[fact].transform("min")
        table[fact + "_share"] = rows[fact] / grouped[fact].transform("mean")
    for mode in ("air", "train", "bus", "car"):
        table[mode] = (rows["mode"] == mode).astype(int)
    return table


def model():
    return GradientBoostingClassifier(n_estimators=90, max_depth=3, learning_rate=0.08, subsample=0.7, random_state=3)


def rank(rows, scores):
    ordered = rows.assign(score=scores).sort_values(["traveller", "score"], ascending=[True, False])
    return ordered.groupby("traveller")["mode"].agg(list)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, y = compare(train), train["choice"]
    scores = np.zeros(len(train))
    for inner, outer in GroupKFold(5).split(X, y, train["traveller"]):
        scores[outer] = model().fit(X.iloc[inner], y.iloc[inner]).predict_proba(X.iloc[outer])[:, 1]
    taken = train[y == 1].set_index("traveller")["mode"]
    lists = rank(train, scores)
    quality = np.mean([1 / (1 + lists[t].index(mode)) for t, mode in taken.items()])
    final = model().fit(X, y).predict_proba(compare(test))[:, 1]
    ranking = rank(test, final).str.join(" ").rename("ranking")
    os.makedirs("submission", exist_ok=True)
    ranking.reset_index().to_csv("submission/submission.csv", index=False)
    print(f"validation map_at_k: {quality:.5f}")


if __name__ == "__main__":
    main()
