import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small data: threads only get in each other's way

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
target = train["category"]
numeric = test.columns.drop("id")


def squash(frame):
    values = frame[numeric].to_numpy(dtype=float)
    return np.sign(values) * np.log1p(np.abs(values))


def machine(values, labels):
    scaler = StandardScaler().fit(values)
    svm = SVC(C=30.0, gamma=0.08, probability=True, random_state=4).fit(scaler.transform(values), labels)
    return lambda new: svm.predict_proba(scaler.transform(new)), svm.classes_


values = squash(train)
fold_losses = []
for a, b in StratifiedKFold(4, shuffle=True, random_state=4).split(values, target):
    predict, names = machine(values[a], target.iloc[a])
    fold_losses.append(log_loss(target.iloc[b], predict(values[b]), labels=names))
    print("fold loss", round(fold_losses[-1], 4))

predict, names = machine(values, target)
answer = pd.DataFrame(predict(squash(test)), columns=names, index=test["id"]).reset_index()
os.makedirs("submission", exist_ok=True)
answer.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {np.mean(fold_losses):.6f}")
