import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import OrdinalEncoder


def load():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    grades = ["cut", "color", "clarity"]
    coder = OrdinalEncoder().fit(train[grades])
    frames = []
    for frame in (train, test):
        frames.append(np.column_stack([np.log(frame["carat"]), np.log(frame["carat"]) ** 2, coder.transform(frame[grades])]))
    return frames[0], np.log1p(train["price"]), frames[1], test["id"]


def main():
    X, y, Z, ids = load()
    oof = cross_val_predict(RidgeCV(), X, y, cv=5)
    price = np.expm1(RidgeCV().fit(X, y).predict(Z))
    pd.DataFrame({"id": ids, "price": price}).to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean((oof - y) ** 2)):.6f}")


if __name__ == "__main__":
    main()
