"""Board models of `flight-delay`: hour, month, carrier, airports and weather in plain encodings."""
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

SCHEDULE = ["month", "hour", "distance"]
WEATHER = ["wind_speed", "precip", "visib", "pressure"]
NUMBERS = SCHEDULE + ["weekday", "plane_built", "plane_seats"] + WEATHER
NAMES = ["carrier", "origin", "dest"]


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    for table in (train, test):
        date = pd.to_datetime(table["date"])
        table["month"], table["weekday"] = date.dt.month, date.dt.weekday
        table["hour"] = table["sched_dep"] // 100
    return train[NUMBERS + NAMES], train["late"], test[NUMBERS + NAMES]


def filled():
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


def numbers(model, columns=NUMBERS):
    return make_pipeline(make_column_transformer((filled(), columns)), model)


def one_hot(model, columns=NUMBERS, names=NAMES):
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=20)
    return make_pipeline(make_column_transformer((filled(), columns), (encoder, names), sparse_threshold=0), model)


def ordinal(model, columns=NUMBERS):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(make_column_transformer((SimpleImputer(strategy="median"), columns), (encoder, NAMES)), model)


LADDER = [
    ("share of late flights", DummyClassifier),
    ("logistic on distance", lambda: numbers(LogisticRegression(), ["distance"])),
    ("logistic on the hour", lambda: numbers(LogisticRegression(), ["hour"])),
    ("logistic on the weather", lambda: numbers(LogisticRegression(), WEATHER)),
    ("logistic on carriers", lambda: one_hot(LogisticRegression(max_iter=500), ["distance"], ["carrier"])),
    ("logistic on the schedule", lambda: one_hot(LogisticRegression(max_iter=500), SCHEDULE)),
    ("logistic", lambda: one_hot(LogisticRegression(max_iter=500))),
    ("logistic with a strong penalty", lambda: one_hot(LogisticRegression(C=0.002, max_iter=500))),
    ("linear discriminant", lambda: one_hot(LinearDiscriminantAnalysis())),
    ("linear support vectors", lambda: one_hot(LinearSVC(C=0.01, random_state=0))),
    ("stochastic gradient", lambda: one_hot(SGDClassifier(loss="log_loss", random_state=0))),
    ("gaussian naive bayes", lambda: numbers(GaussianNB())),
    ("bernoulli naive bayes", lambda: one_hot(BernoulliNB())),
    ("5 neighbours", lambda: one_hot(KNeighborsClassifier())),
    ("50 neighbours", lambda: one_hot(KNeighborsClassifier(50))),
    ("tree of depth 4", lambda: ordinal(DecisionTreeClassifier(max_depth=4, random_state=0))),
    ("full tree", lambda: ordinal(DecisionTreeClassifier(random_state=0))),
    ("bagged trees", lambda: ordinal(BaggingClassifier(n_estimators=20, random_state=0))),
    ("random forest of 100", lambda: ordinal(RandomForestClassifier(random_state=0))),
    ("random forest of depth 5", lambda: ordinal(RandomForestClassifier(max_depth=5, random_state=0))),
    ("extra trees with leaves of 5", lambda: ordinal(ExtraTreesClassifier(min_samples_leaf=5, random_state=0))),
    ("adaboost of stumps", lambda: ordinal(AdaBoostClassifier(random_state=0))),
    ("boosting", lambda: ordinal(GradientBoostingClassifier(random_state=0))),
    ("histogram boosting", lambda: ordinal(HistGradientBoostingClassifier(random_state=0))),
    ("histogram boosting on the schedule", lambda: ordinal(HistGradientBoostingClassifier(random_state=0), SCHEDULE)),
    ("network of 20", lambda: one_hot(MLPClassifier(20, max_iter=60, random_state=0))),
]
