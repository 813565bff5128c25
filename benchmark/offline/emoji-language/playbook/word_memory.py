# How often does each word belong to each language? These shares, averaged over a text's words, feed a logistic regression.
import os
from collections import defaultdict

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
languages = sorted(train["language"].unique())


def parts(text):
    padded = f" {text.lower()} "
    return text.lower().split() + [padded[i : i + 4] for i in range(len(padded) - 3)] + list(text.lower())


memory = defaultdict(lambda: np.full(len(languages), 0.02))
for text, language in zip(train["text"], train["language"]):
    for part in parts(text):
        memory[part][languages.index(language)] += 1
shares = {part: counts / counts.sum() for part, counts in memory.items()}
unknown = np.full(len(languages), 1 / len(languages))


def features(texts):
    return np.array([np.log(np.mean([shares.get(p, unknown) for p in parts(t)], axis=0)) for t in texts])


X = features(train["text"])
model = LogisticRegression(C=1, max_iter=300)
scores = -cross_val_score(model, X, train["language"], cv=5, scoring="neg_log_loss")
print("folds:", scores.round(4))
answer = pd.DataFrame(model.fit(X, train["language"]).predict_proba(features(test["text"])), columns=model.classes_)
answer.insert(0, "id", test["id"])
os.makedirs("submission", exist_ok=True)
answer.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {scores.mean():.5f}")
