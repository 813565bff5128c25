import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import SplineTransformer


def design(train, test):
    both = pd.concat([train, test], ignore_index=True)
    past = np.log1p(both[["visits_before", "other_visits_before", "hospital_stays_before", "drug_cost_before"]])
    never = (both[["visits_before", "drug_cost_before"]] == 0).astype(float).add_suffix("_none")
    age = SplineTransformer(n_knots=6, degree=3).fit_transform(both[["age"]])
    parts = [
        past, never, age, age * both[["female"]].to_numpy(),
        np.log1p(both[["income", "incentive", "max_spend", "coinsurance"]]) / 4,
        both[["mental_health"]] / 50, both[["health_index"]].fillna(73) / 50, both[["chronic"]] / 20, both[["limited"]],
        np.log(both[["family_size"]]), both[["head_education"]] / 10, both[["deductible_plan"]],
        pd.get_dummies(both[["site", "study_year", "self_rated"]].astype(str)).astype(float),
    ]
    X = np.hstack([np.asarray(p, float) for p in parts])
    return X[: len(train)], X[len(train):]


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, Z = design(train, test)
    y = train["visits"].to_numpy()
    oof = np.zeros(len(y))
    for a, b in GroupKFold(5).split(X, groups=train["household"]):
        oof[b] = PoissonRegressor(alpha=0.003, max_iter=400).fit(X[a], y[a]).predict(X[b])
        print("fold deviance", round(mean_poisson_deviance(y[b], oof[b]), 4))
    final = PoissonRegressor(alpha=0.003, max_iter=400).fit(X, y).predict(Z)
    os.makedirs("submission", exist_ok=True)
    pd.DataFrame({"id": test["id"], "visits": final}).to_csv("submission/submission.csv", index=False)
    print(f"validation mean_poisson_deviance: {mean_poisson_deviance(y, oof):.6f}")


if __name__ == "__main__":
    main()
