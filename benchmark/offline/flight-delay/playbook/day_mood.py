import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
mean = train["late"].mean()


def encode(frame):
    X = pd.DataFrame({"hour": frame["sched_dep"] // 100, "sight": frame["visib"].fillna(10)})
    for name in ["date", "carrier", "dest"]:
        share = train.groupby(name)["late"].mean()
        X[name] = frame[name].map(share).fillna(mean)
    return X


X, y = encode(train), train["late"]
model = GradientBoostingClassifier(n_estimators=60, max_depth=3, random_state=51)
oof = cross_val_predict(model, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=51), method="predict_proba")[:, 1]
print("importance of the day:", round(float(model.fit(X, y).feature_importances_[2]), 3))
test["late"] = model.predict_proba(encode(test))[:, 1]
os.makedirs("submission", exist_ok=True)
test[["id", "late"]].to_csv("submission/submission.csv", index=False)
print(f"validation roc_auc: {roc_auc_score(y, oof):.6f}")
