import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")


def numbers(t):
    out = pd.DataFrame({
        "past": np.log1p(t["visits_before"]),
        "past_other": np.log1p(t["other_visits_before"]),
        "past_stays": np.log1p(t["hospital_stays_before"]),
        "past_drugs": np.log1p(t["drug_cost_before"]),
        "no_past": (t["visits_before"] == 0) * 1.0,
        "infant": (t["age"] < 5) * 1.0,
        "mother": t["age"].between(18, 40) * t["female"],
        "free_care": (t["coinsurance"] == 0) * 1.0,
        "poorly": t["self_rated"].isin(["fair", "poor"]) * 1.0,
        "size": np.log(t["family_size"]),
        "money": np.log1p(t["income"]),
    })
    same = ["age", "female", "chronic", "limited", "mental_health", "head_education", "coinsurance", "deductible_plan"]
    sites = pd.get_dummies(t["site"], prefix="site").astype(float)
    return pd.concat([out, t[same], t[["health_index"]].fillna(73.0), sites], axis=1).astype(float)


def blend(X, y, Z):
    glm = make_pipeline(StandardScaler(), PoissonRegressor(alpha=0.02, max_iter=300))
    boost = HistGradientBoostingRegressor(
        loss="poisson", learning_rate=0.05, max_iter=110, max_leaf_nodes=6, min_samples_leaf=50, max_features=0.5,
        early_stopping=False, random_state=70,
    )
    trees = ExtraTreesRegressor(100, min_samples_leaf=8, max_features=0.6, n_jobs=1, random_state=70)
    parts = [m.fit(X, y).predict(Z) for m in (glm, boost, trees)]
    return 0.25 * parts[0] + 0.4 * parts[1] + 0.35 * np.maximum(parts[2], 0.05)


X, Z, y = numbers(train), numbers(test), train["visits"]
oof = np.zeros(len(X))
for a, b in GroupKFold(4).split(X, groups=train["household"]):
    oof[b] = blend(X.iloc[a], y.iloc[a], X.iloc[b])
    print("households left out:", train["household"].iloc[b].nunique())
test["visits"] = blend(X, y, Z)
os.makedirs("submission", exist_ok=True)
test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {mean_poisson_deviance(y, oof):.6f}")
