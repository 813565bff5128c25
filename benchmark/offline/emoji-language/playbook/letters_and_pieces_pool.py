"""Out-of-fold probabilities of a logistic regression and of two naive Bayes models on letter pieces, pooled by a small logistic regression."""
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def lower_edges(texts):
    return [f"<{text.lower()}>".replace(" ", "> <") for text in texts]


def base_models():
    edges = FunctionTransformer(lower_edges)
    return [
        make_pipeline(edges, TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=2, sublinear_tf=True),
                      LogisticRegression(C=60, max_iter=100, tol=1e-3)),
        make_pipeline(edges, CountVectorizer(analyzer="char", ngram_range=(1, 2)), MultinomialNB(alpha=0.1)),
        make_pipeline(edges, CountVectorizer(analyzer="char", ngram_range=(2, 4), binary=True), MultinomialNB(alpha=0.05)),
    ]


def logs(p):
    return np.log(np.clip(p, 1e-6, 1)) - np.log(np.clip(p, 1e-6, 1)).mean(axis=1, keepdims=True)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    folds = StratifiedKFold(3, shuffle=True, random_state=13)
    inside, outside = [], []
    for model in base_models():
        inside.append(logs(cross_val_predict(model, train["text"], train["language"], cv=folds, method="predict_proba")))
        outside.append(logs(model.fit(train["text"], train["language"]).predict_proba(test["text"])))
        print("base model done:", type(model[-1]).__name__)
    X, T = np.hstack(inside), np.hstack(outside)
    pool = LogisticRegression(C=0.02, max_iter=300)
    loss = -cross_val_score(pool, X, train["language"], cv=4, scoring="neg_log_loss").mean()
    p = pool.fit(X, train["language"]).predict_proba(T)
    answer = pd.DataFrame(p, columns=pool.classes_)
    answer.insert(0, "id", test["id"])
    os.makedirs("submission", exist_ok=True)
    answer.to_csv("submission/submission.csv", index=False)
    print(f"validation log_loss: {loss:.5f}")


if __name__ == "__main__":
    main()
