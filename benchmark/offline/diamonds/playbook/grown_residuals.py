import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

RANKS = {
    "cut": {"Fair": 0, "Good": 1, "Very Good": 2, "Premium": 3, "Ideal": 4},
    "color": {letter: i for i, letter in enumerate("DEFGHIJ")},
    "clarity": {"IF": 0, "VVS1": 1, "VVS2": 2, "VS1": 3, "VS2": 4, "SI1": 5, "SI2": 6, "I1": 7},
}


class TwoStep:
    def __init__(self, seed):
        self.line = Ridge(alpha=1.0)
        self.trees = HistGradientBoostingRegressor(
            learning_rate=0.05, max_iter=260, max_leaf_nodes=16, min_samples_leaf=15, max_features=0.7,
            early_stopping=False, random_state=seed,
        )

    def fit(self, wide, narrow, y):
        self.line.fit(wide, y)
        self.trees.fit(narrow, y - self.line.predict(wide))
        return self

    def predict(self, wide, narrow):
        return self.line.predict(wide) + self.trees.predict(narrow)


def views(frame):
    w = np.log(frame["carat"])
    powers = np.column_stack([w, w ** 2, w ** 3])
    flags = pd.get_dummies(frame[list(RANKS)]).reindex(columns=[f"{k}_{v}" for k in RANKS for v in RANKS[k]], fill_value=False)
    wide = np.hstack([powers, flags.to_numpy(float)])
    narrow = frame[["carat", "depth", "table", "x", "y", "z"]].assign(
        **{k: frame[k].map(RANKS[k]) for k in RANKS},
        slab=frame["x"] * frame["y"],
        fraction=(frame["carat"] * 100).round().mod(50),
    )
    return wide, narrow.to_numpy(float)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    y = np.log1p(train["price"].to_numpy())
    wide, narrow = views(train)
    oof = np.empty_like(y)
    for a, b in KFold(4, shuffle=True, random_state=27).split(y):
        step = TwoStep(27).fit(wide[a], narrow[a], y[a])
        oof[b] = step.predict(wide[b], narrow[b])
        print("line only", np.std(step.line.predict(wide[b]) - y[b]).round(4), "with trees", np.std(oof[b] - y[b]).round(4))
    final = TwoStep(27).fit(wide, narrow, y)
    out = pd.DataFrame({"id": test["id"], "price": np.expm1(final.predict(*views(test)))})
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean((oof - y) ** 2)):.6f}")


if __name__ == "__main__":
    main()
