from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

if labels or METRIC == "mean_column_auc":
    linear, forest, boosting = LogisticRegression(C=0.3, max_iter=500), RandomForestClassifier, HistGradientBoostingClassifier
    voting = {"kind": VotingClassifier, "voting": "soft"}
else:
    linear, forest, boosting = Ridge(3.0), RandomForestRegressor, HistGradientBoostingRegressor
    voting = {"kind": VotingRegressor}


def make():
    options = dict(voting)
    kind = options.pop("kind")
    return kind([
        ("linear", make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), linear)),
        ("forest", make_pipeline(SimpleImputer(strategy="median"), forest(100, min_samples_leaf=2, random_state=SEED))),
        ("boosting", boosting(max_iter=80, learning_rate=0.08, random_state=SEED)),
    ], **options)


solve(make)
