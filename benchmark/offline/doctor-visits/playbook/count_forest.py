import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
rating = {"excellent": 0, "good": 1, "fair": 2, "poor": 3}


def view(t):
    out = t[["visits_before", "other_visits_before", "hospital_stays_before", "drug_cost_before", "age", "female",
             "coinsurance", "max_spend", "chronic", "limited", "income", "family_size", "mental_health", "site"]].copy()
    out["contacts_before"] = t["visits_before"] + t["other_visits_before"] + 3 * t["hospital_stays_before"]
    out["rating"] = t["self_rated"].map(rating)
    out["health_index"] = t["health_index"].fillna(-1)
    return out


def forest():
    return RandomForestRegressor(110, min_samples_leaf=25, max_features=5, n_jobs=1, random_state=65)


X, y = view(train), train["visits"]
oof = np.zeros(len(X))
for k, (a, b) in enumerate(GroupKFold(3).split(X, groups=train["household"])):
    oof[b] = np.maximum(forest().fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b]), 0.05)
    print(f"part {k}: {mean_poisson_deviance(y.iloc[b], oof[b]):.4f}")
test["visits"] = np.maximum(forest().fit(X, y).predict(view(test)), 0.05)
os.makedirs("submission", exist_ok=True)
test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {mean_poisson_deviance(y, oof):.6f}")
