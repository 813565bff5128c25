import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small data: threads only get in each other's way

import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
print("train", train.shape, "test", test.shape)

y = train["label"]
X = train.drop(columns=["id", "label"])
forest = ExtraTreesClassifier(150, class_weight="balanced", random_state=9)
oof = cross_val_predict(forest, X, y, cv=5, method="predict_proba")

forest.fit(X, y)
out = pd.DataFrame(forest.predict_proba(test.drop(columns="id")), columns=forest.classes_)
out.insert(0, "id", test["id"])
os.makedirs("submission", exist_ok=True)
out.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {log_loss(y, oof):.6f}")
