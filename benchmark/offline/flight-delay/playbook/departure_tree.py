import os

import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from sklearn.tree import DecisionTreeClassifier

FEATURES = ["dep_delay", "hour", "distance", "carrier_code"]


def prepare(frame):
    frame["hour"] = frame["sched_dep"] // 100
    frame["carrier_code"] = frame["carrier"].astype("category").cat.codes
    return frame


def main():
    train, test = prepare(pd.read_csv("input/train.csv")), prepare(pd.read_csv("input/test.csv"))
    print("late:", train["late"].mean())
    a, b = next(GroupShuffleSplit(1, test_size=0.25, random_state=49).split(train, groups=train["date"]))
    tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=50, random_state=49)
    tree.fit(train.iloc[a][FEATURES], train["late"].iloc[a])
    auc = roc_auc_score(train["late"].iloc[b], tree.predict_proba(train.iloc[b][FEATURES])[:, 1])
    test["late"] = tree.predict_proba(test[FEATURES])[:, 1]
    os.makedirs("submission", exist_ok=True)
    test[["id", "late"]].to_csv("submission/submission.csv", index=False)
    print(f"validation roc_auc: {auc:.6f}")


if __name__ == "__main__":
    main()
