"""What agents' scripts do; every number must be the same to the last digit."""

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
frame["e"] = rng.choice(["x", "y", "z"], 300)
target = (frame.a + frame.b * frame.c > 0).astype(int)
features = ColumnTransformer([("n", StandardScaler(), list("abcd")), ("c", OneHotEncoder(), ["e"])], sparse_threshold=0)
folds = StratifiedKFold(3, shuffle=True, random_state=1)
for model in (
    LogisticRegression(),
    RandomForestClassifier(20, random_state=0, n_jobs=2),
    HistGradientBoostingClassifier(max_iter=20, random_state=0),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
):
    print(type(model).__name__, cross_val_score(make_pipeline(features, model), frame, target, cv=folds).tolist())
print(cross_val_score(make_pipeline(features, LogisticRegression()), frame, target, cv=folds, n_jobs=2).tolist())
print(frame.groupby("e").agg(["mean", "std"]).round(12).to_string())
print(TfidfVectorizer().fit_transform(["a cat sat", "the cat", "sat on"]).toarray().round(12).tolist())
np.random.seed(7)
print(np.random.rand(3).tolist(), pd.Series(range(50)).sample(3).tolist())
LogisticRegression(max_iter=1).fit(frame[list("abcd")], target)
warnings.warn("mine")
