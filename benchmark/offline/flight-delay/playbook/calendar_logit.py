import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import SplineTransformer

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
both = pd.concat([train, test], ignore_index=True)
when = pd.to_datetime(both["date"])
clock = both["sched_dep"] // 100 + both["sched_dep"] % 100 / 60

blocks = [SplineTransformer(n_knots=6, degree=3).fit_transform(clock.to_frame())]
flags = pd.DataFrame({"month": when.dt.month, "weekday": when.dt.dayofweek, "carrier": both["carrier"], "origin": both["origin"]})
flags["dest"] = both["dest"].where(both["dest"].map(both["dest"].value_counts()) >= 60, "other")
blocks.append(pd.get_dummies(flags.astype(str)).to_numpy(float))
rain, sight = both["precip"].fillna(0), both["visib"].fillna(10)
blocks.append(np.column_stack([
    np.log1p(100 * rain) / 2, rain > 0, np.log1p(sight), sight < 3, both["pressure"].isna(),
    (both["pressure"].fillna(1018) - 1018) / 8, both["wind_speed"].fillna(10) / 10,
    (rain > 0) * (clock - 12) / 4, np.log(both["distance"]),
]).astype(float))
X = np.hstack(blocks)
n, late = len(train), train["late"].to_numpy()
print("columns", X.shape[1])

oof = np.zeros(n)
for a, b in GroupKFold(4).split(X[:n], groups=train["date"]):
    oof[b] = LogisticRegression(C=0.3, max_iter=600).fit(X[a], late[a]).predict_proba(X[b])[:, 1]
final = LogisticRegression(C=0.3, max_iter=600).fit(X[:n], late)
test["late"] = final.predict_proba(X[n:])[:, 1]
os.makedirs("submission", exist_ok=True)
test[["id", "late"]].to_csv("submission/submission.csv", index=False)
print(f"validation roc_auc: {roc_auc_score(late, oof):.6f}")
