import os

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import train_test_split

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
y = np.log1p(train["price"])
X = pd.get_dummies(train.drop(columns="id"))
Z = pd.get_dummies(test.drop(columns="id"))
print("columns", X.shape[1])

a, b = train_test_split(np.arange(len(X)), test_size=0.2, random_state=29)
forest = ExtraTreesRegressor(30, random_state=29).fit(X.iloc[a], y.iloc[a])
score = np.sqrt(np.mean((forest.predict(X.iloc[b]) - y.iloc[b]) ** 2))
print("hold-out", score)
out = test[["id"]].assign(price=np.expm1(forest.predict(Z)))
os.makedirs("submission", exist_ok=True)
out.to_csv("submission/submission.csv", index=False)
print(f"validation rmsle: {score:.6f}")
