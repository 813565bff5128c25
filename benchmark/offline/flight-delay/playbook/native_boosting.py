import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

KINDS = ["carrier", "origin", "dest", "plane_maker"]


def table(frame, levels):
    day = pd.to_datetime(frame["date"])
    X = frame[["distance", "plane_seats", "wind_speed", "precip", "visib", "pressure"]].copy()
    X["clock"] = frame["sched_dep"] // 100 + frame["sched_dep"] % 100 / 60
    planned = (frame["sched_arr"] // 100 - frame["sched_dep"] // 100) * 60 + frame["sched_arr"] % 100 - frame["sched_dep"] % 100
    X["planned"] = planned % 1440
    X["week"] = day.dt.dayofyear // 7
    X["weekday"] = day.dt.dayofweek
    for name in KINDS:
        X[name] = pd.Categorical(frame[name], categories=levels[name])
    return X


def booster():
    return HistGradientBoostingClassifier(
        learning_rate=0.08, max_iter=120, max_leaf_nodes=24, min_samples_leaf=20, l2_regularization=1.0,
        categorical_features="from_dtype", early_stopping=False, random_state=46,
    )


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    levels = {name: train[name].value_counts().index[:100] for name in KINDS}
    X, y = table(train, levels), train["late"]
    oof = np.zeros(len(X))
    for k, (a, b) in enumerate(GroupKFold(4).split(X, groups=train["date"])):
        oof[b] = booster().fit(X.iloc[a], y.iloc[a]).predict_proba(X.iloc[b])[:, 1]
        print(f"fold {k}: {roc_auc_score(y.iloc[b], oof[b]):.4f}")
    late = booster().fit(X, y).predict_proba(table(test, levels))[:, 1]
    os.makedirs("submission", exist_ok=True)
    pd.DataFrame({"id": test["id"], "late": late}).to_csv("submission/submission.csv", index=False)
    print(f"validation roc_auc: {roc_auc_score(y, oof):.6f}")


if __name__ == "__main__":
    main()
