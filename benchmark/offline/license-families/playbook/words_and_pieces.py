"""Words, phrases and letter pieces side by side, with a ridge classifier that weights rare families up."""
import os
import re

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline, make_union


def tidy(text):
    return re.sub(r"[^a-z0-9.]+", " ", text.lower()).strip()


def build():
    words = TfidfVectorizer(preprocessor=tidy, ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+")
    pieces = TfidfVectorizer(preprocessor=tidy, analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=3)
    return make_pipeline(make_union(words, pieces), RidgeClassifier(alpha=0.8, class_weight="balanced", solver="sparse_cg"))


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    folds = StratifiedKFold(4, shuffle=True, random_state=10)
    scores = cross_val_score(build(), train["text"], train["family"], cv=folds, scoring="f1_macro")
    print("folds:", scores.round(4))
    test["family"] = build().fit(train["text"], train["family"]).predict(test["text"])
    os.makedirs("submission", exist_ok=True)
    test[["id", "family"]].to_csv("submission/submission.csv", index=False)
    print(f"validation macro_f1: {scores.mean():.5f}")


if __name__ == "__main__":
    main()
