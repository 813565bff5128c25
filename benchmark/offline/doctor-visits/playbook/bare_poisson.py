import os

import pandas as pd
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    numeric = test.select_dtypes("number").columns
    print("numeric columns:", list(numeric))
    X, y = train[numeric], train["visits"]
    a, b = next(GroupShuffleSplit(1, test_size=0.2, random_state=71).split(X, groups=train["household"]))
    model = make_pipeline(StandardScaler(), PoissonRegressor(max_iter=300))
    model.fit(X.iloc[a], y.iloc[a])
    value = mean_poisson_deviance(y.iloc[b], model.predict(X.iloc[b]))
    test["visits"] = model.fit(X, y).predict(test[numeric])
    os.makedirs("submission", exist_ok=True)
    test[["id", "visits"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_poisson_deviance: {value:.6f}")


if __name__ == "__main__":
    main()
