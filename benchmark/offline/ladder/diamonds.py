"""Board models of `diamonds`: one-hot or ordinal grades, raw or log price, plain settings."""
import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeRegressor

NUMBERS = ["carat", "depth", "table", "x", "y", "z"]
GRADES = {
    "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "color": list("JIHGFED"),
    "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
}


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    columns = NUMBERS + list(GRADES)
    return train[columns], train["price"], test[columns]


def numbers(model, columns=NUMBERS):
    return make_pipeline(make_column_transformer((StandardScaler(), columns)), model)


def one_hot(model):
    return make_pipeline(make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), list(GRADES))), model)


def ordinal(model):
    encoder = OrdinalEncoder(categories=list(GRADES.values()))
    return make_pipeline(make_column_transformer((encoder, list(GRADES)), ("passthrough", NUMBERS)), model)


def logged(model):
    return TransformedTargetRegressor(model, func=np.log1p, inverse_func=lambda z: np.expm1(np.clip(z, 0, 11)))


LADDER = [
    ("mean price", DummyRegressor),
    ("median price", lambda: DummyRegressor(strategy="median")),
    ("linear on carat", lambda: numbers(LinearRegression(), ["carat"])),
    ("linear on numbers", lambda: numbers(LinearRegression())),
    ("linear with grades", lambda: one_hot(LinearRegression())),
    ("lasso with grades", lambda: one_hot(Lasso(alpha=20))),
    ("huber with grades", lambda: one_hot(HuberRegressor(max_iter=500))),
    ("log price ridge on carat", lambda: logged(numbers(Ridge(), ["carat"]))),
    ("log price ridge on numbers", lambda: logged(numbers(Ridge()))),
    ("log price ridge with grades", lambda: logged(one_hot(Ridge()))),
    ("log price linear support vectors", lambda: logged(one_hot(LinearSVR(max_iter=5000, random_state=0)))),
    ("10 neighbours on numbers", lambda: numbers(KNeighborsRegressor(10))),
    ("5 neighbours with grades", lambda: one_hot(KNeighborsRegressor())),
    ("log price 5 neighbours with grades", lambda: logged(one_hot(KNeighborsRegressor()))),
    ("tree of depth 5", lambda: ordinal(DecisionTreeRegressor(max_depth=5, random_state=0))),
    ("full tree", lambda: ordinal(DecisionTreeRegressor(random_state=0))),
    ("log price tree with leaves of 8", lambda: logged(ordinal(DecisionTreeRegressor(min_samples_leaf=8, random_state=0)))),
    ("bagged trees", lambda: ordinal(BaggingRegressor(random_state=0))),
    ("random forest of 50", lambda: ordinal(RandomForestRegressor(50, random_state=0))),
    ("log price random forest of depth 8", lambda: logged(ordinal(RandomForestRegressor(50, max_depth=8, random_state=0)))),
    ("log price extra trees", lambda: logged(ordinal(ExtraTreesRegressor(50, random_state=0)))),
    ("adaboost", lambda: ordinal(AdaBoostRegressor(random_state=0))),
    ("boosting", lambda: ordinal(GradientBoostingRegressor(random_state=0))),
    ("histogram boosting", lambda: ordinal(HistGradientBoostingRegressor(random_state=0))),
    ("log price boosting", lambda: logged(ordinal(GradientBoostingRegressor(random_state=0)))),
    ("log price histogram boosting", lambda: logged(ordinal(HistGradientBoostingRegressor(random_state=0)))),
    ("log price network of 50", lambda: logged(one_hot(MLPRegressor(hidden_layer_sizes=50, max_iter=60, random_state=0)))),
]
