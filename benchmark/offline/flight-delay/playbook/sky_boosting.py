import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
both = pd.concat([train.drop(columns="late"), test], ignore_index=True)
both["clock"] = both["sched_dep"] // 100 + both["sched_dep"] % 100 / 60
both["no_barometer"] = both["pressure"].isna().astype(float)

# Weather of the whole day, from all flights given for it; outcomes are not used.
by_day = both.groupby("date")
sky = pd.DataFrame({
    "worst_sight": by_day["visib"].min(),
    "mean_sight": by_day["visib"].mean(),
    "most_rain": by_day["precip"].max(),
    "mean_rain": by_day["precip"].mean(),
    "low": by_day["pressure"].min(),
    "mean_pressure": by_day["pressure"].mean(),
    "gale": by_day["wind_speed"].max(),
    "silent": by_day["no_barometer"].mean(),
})
# Weather so far: the same, but only of flights that leave no later.
ordered = both.sort_values(["date", "clock"])
so_far = pd.DataFrame({
    "rain_so_far": ordered.groupby("date")["precip"].cummax(),
    "sight_so_far": ordered.groupby("date")["visib"].cummin(),
}, index=ordered.index).reindex(both.index)

day = pd.to_datetime(both["date"])
X = both[["clock", "distance", "wind_speed", "precip", "visib", "pressure", "no_barometer"]].join(so_far)
X = X.join(sky.reindex(both["date"]).set_index(both.index))
X["week"], X["weekday"] = day.dt.dayofyear // 7, day.dt.dayofweek
X["carrier"] = pd.Categorical(both["carrier"])
X["origin"] = pd.Categorical(both["origin"])
n, y = len(train), train["late"]
print("columns:", X.shape[1])


def booster():
    return HistGradientBoostingClassifier(
        learning_rate=0.04, max_iter=150, max_leaf_nodes=8, min_samples_leaf=40, l2_regularization=10,
        max_features=0.4, categorical_features="from_dtype", early_stopping=False, random_state=47,
    )


oof = np.zeros(n)
for a, b in GroupKFold(4).split(X[:n], groups=train["date"]):
    oof[b] = booster().fit(X.iloc[a], y.iloc[a]).predict_proba(X.iloc[b])[:, 1]
test["late"] = booster().fit(X[:n], y).predict_proba(X[n:])[:, 1]
os.makedirs("submission", exist_ok=True)
test[["id", "late"]].to_csv("submission/submission.csv", index=False)
print(f"validation roc_auc: {roc_auc_score(y, oof):.6f}")
