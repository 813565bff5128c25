import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

CLARITY = ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"]
CUT = ["Fair", "Good", "Very Good", "Premium", "Ideal"]


def table(frame):
    return pd.DataFrame({
        "carat": frame["carat"],
        "clarity": frame["clarity"].map(CLARITY.index),
        "color": frame["color"].map("JIHGFED".index),
        "cut": frame["cut"].map(CUT.index),
        "depth": frame["depth"],
        "table": frame["table"],
        "x": frame["x"],
        "y_to_x": frame["y"] / frame["x"].clip(lower=1),
    })


def model():
    return HistGradientBoostingRegressor(
        max_iter=350, learning_rate=0.06, max_leaf_nodes=20, min_samples_leaf=12, l2_regularization=1.0,
        monotonic_cst={"carat": 1, "clarity": 1, "color": 1}, early_stopping=False, random_state=26,
    )


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, y = table(train), np.log1p(train["price"])
    squares = []
    for a, b in KFold(3, shuffle=True, random_state=26).split(X):
        e = model().fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b]) - y.iloc[b]
        squares.extend(e ** 2)
        print("fold rmsle", round(float(np.sqrt((e ** 2).mean())), 5))
    price = np.expm1(model().fit(X, y).predict(table(test)))
    os.makedirs("submission", exist_ok=True)
    pd.DataFrame({"id": test["id"], "price": price}).to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean(squares)):.6f}")


if __name__ == "__main__":
    main()
