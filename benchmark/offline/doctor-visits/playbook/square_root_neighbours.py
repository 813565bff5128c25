import os

import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupShuffleSplit
from sklearn.neighbors import KNeighborsRegressor

SCALE = {"visits_before": 1.5, "other_visits_before": 0.3, "hospital_stays_before": 0.4, "drug_cost_before": 0.15}


def place(frame):
    roots = [w * np.sqrt(frame[name]) for name, w in SCALE.items()]
    rest = [
        frame["age"] / 18, 0.5 * frame["female"], frame["coinsurance"] / 70, frame["chronic"] / 14,
        0.5 * frame["limited"], frame["self_rated"].map({"excellent": 0, "good": 0.3, "fair": 0.8, "poor": 1.4}),
    ]
    return np.column_stack(roots + rest)


def nearest(known, wanted):
    knn = KNeighborsRegressor(n_neighbors=80, algorithm="kd_tree").fit(place(known), known["visits"])
    return np.maximum(knn.predict(place(wanted)), 0.1)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    values = []
    for a, b in GroupShuffleSplit(3, test_size=0.25, random_state=66).split(train, groups=train["household"]):
        values.append(mean_poisson_deviance(train["visits"].iloc[b], nearest(train.iloc[a], train.iloc[b])))
        print("split", len(values), round(values[-1], 4))
    out = test[["id"]].assign(visits=nearest(train, test))
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation mean_poisson_deviance: {np.mean(values):.6f}")


if __name__ == "__main__":
    main()
