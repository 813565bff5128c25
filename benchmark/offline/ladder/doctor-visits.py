"""Board models of `doctor-visits`: the raw columns, plain settings; squared error as well as Poisson loss."""
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, PoissonRegressor, TweedieRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

PLAN = ["coinsurance", "deductible_plan", "max_spend", "incentive", "study_year"]
PERSON = ["age", "female", "income", "head_education", "family_size"]
HEALTH = ["mental_health", "health_index", "chronic", "limited"]
BEFORE = ["visits_before", "other_visits_before", "hospital_stays_before", "drug_cost_before"]
NUMBERS = PLAN + PERSON + HEALTH + BEFORE
NAMES = ["site", "self_rated"]


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    return train[NUMBERS + NAMES], train["visits"], test[NUMBERS + NAMES]


def table(model, columns=NUMBERS, names=NAMES):
    filled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_pipeline(make_column_transformer((filled, columns), (OneHotEncoder(), names)), model)


class Floored:
    """Keeps a squared-error model's predictions at 0.05 visits or more."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X).clip(0.05)


LADDER = [
    ("mean", DummyRegressor),
    ("median", lambda: DummyRegressor(strategy="median")),
    ("poisson on the plan", lambda: table(PoissonRegressor(), PLAN, [])),
    ("poisson on the person", lambda: table(PoissonRegressor(), PERSON, [])),
    ("poisson on health", lambda: table(PoissonRegressor(), HEALTH)),
    ("poisson on the year before", lambda: table(PoissonRegressor(), BEFORE, [])),
    ("poisson without the year before", lambda: table(PoissonRegressor(), PLAN + PERSON + HEALTH)),
    ("poisson", lambda: table(PoissonRegressor(alpha=0.01, max_iter=300))),
    ("poisson with a strong penalty", lambda: table(PoissonRegressor(alpha=5))),
    ("gamma-like tweedie", lambda: table(TweedieRegressor(power=1.5, link="log", alpha=0.1, max_iter=300))),
    ("linear on the year before", lambda: Floored(table(LinearRegression(), BEFORE, []))),
    ("linear", lambda: Floored(table(LinearRegression()))),
    ("lasso", lambda: Floored(table(Lasso(alpha=0.5)))),
    ("10 neighbours", lambda: Floored(table(KNeighborsRegressor(10)))),
    ("60 neighbours", lambda: Floored(table(KNeighborsRegressor(60)))),
    ("tree of depth 3", lambda: table(DecisionTreeRegressor(max_depth=3, random_state=0))),
    ("poisson tree with leaves of 60", lambda: Floored(table(DecisionTreeRegressor(criterion="poisson", min_samples_leaf=60, random_state=0)))),
    ("tree with leaves of 10", lambda: Floored(table(DecisionTreeRegressor(min_samples_leaf=10, random_state=0)))),
    ("bagged trees", lambda: Floored(table(BaggingRegressor(n_estimators=20, random_state=0)))),
    ("random forest of depth 6", lambda: Floored(table(RandomForestRegressor(60, max_depth=6, random_state=0)))),
    ("random forest without the year before", lambda: Floored(table(RandomForestRegressor(40, min_samples_leaf=10, random_state=0), PLAN + PERSON + HEALTH))),
    ("extra trees with leaves of 5", lambda: Floored(table(ExtraTreesRegressor(60, min_samples_leaf=5, random_state=0)))),
    ("adaboost", lambda: Floored(table(AdaBoostRegressor(random_state=0)))),
    ("boosting", lambda: Floored(table(GradientBoostingRegressor(random_state=0)))),
    ("histogram boosting", lambda: Floored(table(HistGradientBoostingRegressor(random_state=0)))),
    ("poisson histogram boosting", lambda: table(HistGradientBoostingRegressor(loss="poisson", random_state=0))),
    ("network of 20", lambda: Floored(table(MLPRegressor(hidden_layer_sizes=20, max_iter=100, random_state=0)))),
]
