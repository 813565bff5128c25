import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold


def minutes(hhmm):
    return hhmm // 100 * 60 + hhmm % 100


def columns(frame, busy):
    day = pd.to_datetime(frame["date"])
    return pd.DataFrame({
        "start": minutes(frame["sched_dep"]),
        "end": minutes(frame["sched_arr"]),
        "month": day.dt.month,
        "weekday": day.dt.dayofweek,
        "distance": frame["distance"],
        "traffic": frame["dest"].map(busy),
        "carrier": frame["carrier"].map(lambda code: ord(code[0]) * 100 + ord(code[1])),
        "from": frame["origin"].map({"EWR": 0, "JFK": 1, "LGA": 2}),
        "age": 2013 - frame["plane_built"],
        "wind": frame["wind_speed"],
        "rain": frame["precip"],
        "sight": frame["visib"],
    }).fillna(-99)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    busy = pd.concat([train, test])["dest"].value_counts()
    X, Z, late = columns(train, busy), columns(test, busy), train["late"]
    def forest():
        return RandomForestClassifier(70, min_samples_leaf=12, max_features=3, n_jobs=1, random_state=44)
    oof = np.zeros(len(X))
    for a, b in GroupKFold(3).split(X, groups=train["date"]):
        oof[b] = forest().fit(X.iloc[a], late.iloc[a]).predict_proba(X.iloc[b])[:, 1]
        print("days left out:", train["date"].iloc[b].nunique(), "AUC", round(roc_auc_score(late.iloc[b], oof[b]), 4))
    out = test[["id"]].assign(late=forest().fit(X, late).predict_proba(Z)[:, 1])
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation roc_auc: {roc_auc_score(late, oof):.6f}")


if __name__ == "__main__":
    main()
