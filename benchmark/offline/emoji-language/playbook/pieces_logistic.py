# Logistic regression on letter pieces of one to four letters inside words, and on whole words.
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline, make_union

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), min_df=3, sublinear_tf=True)
whole = TfidfVectorizer(token_pattern=r"\w+", min_df=2)
model = make_pipeline(make_union(pieces, whole), LogisticRegression(C=40, max_iter=40, tol=1e-3))
scores = -cross_val_score(model, train["text"], train["language"], cv=3, scoring="neg_log_loss")
print("folds:", scores.round(4))
model.fit(train["text"], train["language"])
answer = pd.DataFrame(model.predict_proba(test["text"]), columns=model.classes_)
answer.insert(0, "id", test["id"])
os.makedirs("submission", exist_ok=True)
answer.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {scores.mean():.5f}")
