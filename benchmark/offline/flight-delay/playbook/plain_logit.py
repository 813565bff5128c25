import os

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
X = train.drop(columns=["id", "late", "date"])
X = X.fillna(X.median(numeric_only=True))
y = train["late"]
print("missing left:", int(X.isna().sum().sum()))

model = make_pipeline(StandardScaler(), LogisticRegression())
a, b = next(GroupShuffleSplit(1, test_size=0.2, random_state=50).split(X, groups=train["date"]))
model.fit(X.iloc[a], y.iloc[a])
auc = roc_auc_score(y.iloc[b], model.predict_proba(X.iloc[b])[:, 1])
Z = test.drop(columns=["id", "date"])
test["late"] = model.predict_proba(Z.fillna(X.median(numeric_only=True)))[:, 1]
os.makedirs("submission", exist_ok=True)
test[["id", "late"]].to_csv("submission/submission.csv", index=False)
print(f"validation roc_auc: {auc:.6f}")
