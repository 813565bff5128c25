import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

ORDER = {
    "cut": "Fair|Good|Very Good|Premium|Ideal",
    "color": "J|I|H|G|F|E|D",
    "clarity": "I1|SI2|SI1|VS2|VS1|VVS2|VVS1|IF",
}


def prepare(frame):
    out = pd.DataFrame({name: frame[name].map({v: i for i, v in enumerate(order.split("|"))}) for name, order in ORDER.items()})
    side = 6.2 * np.cbrt(frame["carat"])
    for axis, factor in [("x", 1.0), ("y", 1.0), ("z", 0.62)]:
        length = frame[axis].where(frame[axis].between(0.5 * factor * side, 1.6 * factor * side))
        out[axis] = length.fillna(factor * side)
    out["log_carat"] = np.log(frame["carat"])
    out["volume"] = out["x"] * out["y"] * out["z"]
    out["density"] = frame["carat"] / out["volume"]
    return out.assign(depth=frame["depth"], table=frame["table"])


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    y = np.log1p(train["price"])
    forest = RandomForestRegressor(70, min_samples_leaf=2, max_features=0.5, oob_score=True, n_jobs=1, random_state=24)
    forest.fit(prepare(train), y)
    print("importances", dict(zip(forest.feature_names_in_, forest.feature_importances_.round(3))))
    out = test[["id"]].assign(price=np.expm1(forest.predict(prepare(test))))
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean((forest.oob_prediction_ - y) ** 2)):.6f}")


if __name__ == "__main__":
    main()
