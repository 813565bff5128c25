# The ladder: plain models of growing strength, one submission each. What they score makes the board.
import sys
import time
import warnings

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

MOST_ROWS = 20_000  # of more training rows a sample is fitted: a ladder is to be quick
classes = labels or METRIC == "mean_column_auc"


def filled(model):
    return make_pipeline(SimpleImputer(strategy="median"), model)


def scaled(model):
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)


if classes:
    LADDER = [
        ("class shares", lambda: DummyClassifier(strategy="prior")),
        ("naive Bayes", lambda: filled(GaussianNB())),
        ("stump", lambda: filled(DecisionTreeClassifier(max_depth=1, random_state=SEED))),
        ("small tree", lambda: filled(DecisionTreeClassifier(max_depth=4, random_state=SEED))),
        ("15 neighbours", lambda: scaled(KNeighborsClassifier(15))),
        ("stiff logistic regression", lambda: scaled(LogisticRegression(C=0.01, max_iter=300))),
        ("logistic regression", lambda: scaled(LogisticRegression(max_iter=300))),
        ("forest", lambda: filled(RandomForestClassifier(100, min_samples_leaf=3, random_state=SEED))),
        ("extra trees", lambda: filled(ExtraTreesClassifier(100, min_samples_leaf=3, random_state=SEED))),
        ("boosting of 30", lambda: HistGradientBoostingClassifier(max_iter=30, random_state=SEED)),
        ("boosting of 100", lambda: HistGradientBoostingClassifier(max_iter=100, learning_rate=0.06, random_state=SEED)),
    ]
else:
    LADDER = [
        ("mean", lambda: DummyRegressor()),
        ("median", lambda: DummyRegressor(strategy="median")),
        ("stump", lambda: filled(DecisionTreeRegressor(max_depth=1, random_state=SEED))),
        ("small tree", lambda: filled(DecisionTreeRegressor(max_depth=4, random_state=SEED))),
        ("15 neighbours", lambda: scaled(KNeighborsRegressor(15))),
        ("stiff ridge", lambda: scaled(Ridge(1000))),
        ("ridge", lambda: scaled(Ridge())),
        ("forest", lambda: filled(RandomForestRegressor(100, min_samples_leaf=3, random_state=SEED))),
        ("extra trees", lambda: filled(ExtraTreesRegressor(100, min_samples_leaf=3, random_state=SEED))),
        ("boosting of 30", lambda: HistGradientBoostingRegressor(max_iter=30, random_state=SEED)),
        ("boosting of 100", lambda: HistGradientBoostingRegressor(max_iter=100, learning_rate=0.06, random_state=SEED)),
    ]

X, X_test = features()
rows = np.random.default_rng(SEED).permutation(len(train))[:MOST_ROWS]
for name, make in LADDER:
    start = time.time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(predict(make, X[rows], train.iloc[rows], X_test), f"ladder/{name.replace(' ', '-')}.csv")
        print(f"{name}: {time.time() - start:.1f} s", flush=True)
    except Exception as error:
        print(f"{name}: left out, {type(error).__name__}: {error}", file=sys.stderr, flush=True)
