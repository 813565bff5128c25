import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def day_weather(both):
    """Per date: mean and extremes of the weather over the flights of the day."""
    wet = both.assign(foggy=both["visib"] < 4, rainy=both["precip"] > 0, silent=both["pressure"].isna())
    stats = wet.groupby("date").agg(
        foggy=("foggy", "mean"), rainy=("rainy", "mean"), silent=("silent", "mean"), rain=("precip", "mean"),
        low=("pressure", "min"), wind=("wind_speed", "mean"), sight=("visib", "mean"),
    )
    stats = stats.fillna(stats.median())
    # The evening before matters too: crews and aircraft are then out of place.
    dates = pd.to_datetime(stats.index)
    before = stats[["foggy", "rainy"]].set_axis(dates).shift(1, freq="D").reindex(dates).fillna(0).set_axis(stats.index)
    return stats.join(before, rsuffix="_before")


def columns(both):
    day = pd.to_datetime(both["date"])
    X = day_weather(both).reindex(both["date"]).reset_index(drop=True)
    clock = both["sched_dep"] // 100 + both["sched_dep"] % 100 / 60
    X["clock"] = clock
    X["rain_now"] = np.log1p(50 * both["precip"].fillna(0))
    X["sight_now"] = both["visib"].fillna(10)
    X["wind_now"] = both["wind_speed"].fillna(10)
    X["rainy_late"] = X["rainy"] * (clock - 6)
    X["foggy_late"] = X["foggy"] * (clock - 6)
    X["distance"] = np.log(both["distance"])
    season = 2 * np.pi * day.dt.dayofyear / 365
    for k in (1, 2):
        X[f"sin{k}"], X[f"cos{k}"] = np.sin(k * season), np.cos(k * season)
    X["weekday"] = day.dt.dayofweek
    X["december"] = (day.dt.month == 12) * 1
    flags = pd.get_dummies(both[["carrier", "origin"]]).astype(float)
    return pd.concat([X, flags], axis=1)


def council():
    return [
        (0.5, HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=110, max_leaf_nodes=7, min_samples_leaf=50, l2_regularization=8,
            max_features=0.4, early_stopping=False, random_state=48,
        )),
        (0.3, ExtraTreesClassifier(150, min_samples_leaf=8, max_features=0.4, n_jobs=1, random_state=48)),
        (0.2, make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=500))),
    ]


def ranks(X, y, Z):
    total = np.zeros(len(Z))
    for share, model in council():
        p = model.fit(X, y).predict_proba(Z)[:, 1]
        total += share * rankdata(p) / len(p)
    return total


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X = columns(pd.concat([train.drop(columns="late"), test], ignore_index=True))
    n, y = len(train), train["late"]
    aucs = []
    for a, b in GroupKFold(3).split(X[:n], groups=train["date"]):
        aucs.append(roc_auc_score(y.iloc[b], ranks(X.iloc[a], y.iloc[a], X.iloc[b])))
        print(f"fold {len(aucs)}: {aucs[-1]:.4f}")
    out = pd.DataFrame({"id": test["id"], "late": ranks(X[:n], y, X[n:])})
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation roc_auc: {np.mean(aucs):.6f}")


if __name__ == "__main__":
    main()
