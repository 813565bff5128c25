import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import KFold

SHARES = [0.3, 0.3, 0.3, 0.1]


def view(frame):
    clarity = frame["clarity"].map({k: i for i, k in enumerate("I1 SI2 SI1 VS2 VS1 VVS2 VVS1 IF".split())})
    cut = frame["cut"].map({k: i for i, k in enumerate(["Fair", "Good", "Very Good", "Premium", "Ideal"])})
    color = frame["color"].map(lambda c: 6 - "DEFGHIJ".index(c))
    size = np.log(frame["carat"])
    return np.column_stack([
        size, clarity, color, cut, frame["depth"], frame["table"], frame["x"], frame["y"], frame["z"],
        clarity + color, size * (clarity + color), frame["carat"] / (frame["x"] * frame["y"] * frame["z"]).clip(lower=10),
    ])


def boost(leaves, rate, rounds, seed):
    return HistGradientBoostingRegressor(
        learning_rate=rate, max_iter=rounds, max_leaf_nodes=leaves, min_samples_leaf=10, max_features=0.6,
        l2_regularization=2.0, early_stopping=False, random_state=seed,
    )


def team(X, y, Z):
    """Mean log price of the members; X[:, 0] and Z[:, 0] are the log weight."""
    parts = [
        boost(12, 0.07, 220, 1).fit(X, y).predict(Z),
        boost(24, 0.05, 170, 2).fit(X, y).predict(Z),
        boost(16, 0.06, 200, 3).fit(X, y - X[:, 0]).predict(Z) + Z[:, 0],
        ExtraTreesRegressor(40, min_samples_leaf=2, max_features=0.7, random_state=4).fit(X, y).predict(Z),
    ]
    return sum(s * p for s, p in zip(SHARES, parts))


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, y = view(train), np.log1p(train["price"].to_numpy())
    errors = []
    for a, b in KFold(3, shuffle=True, random_state=28).split(X):
        errors.append(team(X[a], y[a], X[b]) - y[b])
        print(f"fold {len(errors)}: {np.sqrt(np.mean(errors[-1] ** 2)):.5f}")
    test["price"] = np.expm1(team(X, y, view(test))).round(1)
    os.makedirs("submission", exist_ok=True)
    test[["id", "price"]].to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean(np.concatenate(errors) ** 2)):.6f}")


if __name__ == "__main__":
    main()
