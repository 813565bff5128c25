"""Board models of `segment`: the raw columns, default or plain settings."""
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    columns = [c for c in test if c != "id"]
    return train[columns], train["category"], test[columns]


def scaled(model):
    return lambda: make_pipeline(StandardScaler(), model())


LADDER = [
    ("class shares", lambda: DummyClassifier(strategy="prior")),
    ("gaussian naive bayes", GaussianNB),
    ("bernoulli naive bayes", scaled(BernoulliNB)),
    ("nearest centroid", scaled(NearestCentroid)),
    ("linear discriminant", LinearDiscriminantAnalysis),
    ("quadratic discriminant", scaled(lambda: QuadraticDiscriminantAnalysis(reg_param=0.1))),
    ("logistic on 4 columns", lambda: make_pipeline(StandardScaler(), SelectKBest(k=4), LogisticRegression(max_iter=1000))),
    ("logistic", scaled(lambda: LogisticRegression(max_iter=1000))),
    ("logistic with a strong penalty", scaled(lambda: LogisticRegression(C=0.01, max_iter=1000))),
    ("1 neighbour", scaled(lambda: KNeighborsClassifier(1))),
    ("5 neighbours", scaled(KNeighborsClassifier)),
    ("25 neighbours without scaling", lambda: KNeighborsClassifier(25)),
    ("tree of depth 3", lambda: DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("tree with leaves of 10", lambda: DecisionTreeClassifier(min_samples_leaf=10, random_state=0)),
    ("bagged trees", lambda: BaggingClassifier(n_estimators=20, random_state=0)),
    ("random forest of depth 4", lambda: RandomForestClassifier(max_depth=4, random_state=0)),
    ("random forest", lambda: RandomForestClassifier(random_state=0)),
    ("extra trees with leaves of 3", lambda: ExtraTreesClassifier(min_samples_leaf=3, random_state=0)),
    ("adaboost of stumps", lambda: AdaBoostClassifier(random_state=0)),
    ("boosting with 20 stages", lambda: GradientBoostingClassifier(n_estimators=20, random_state=0)),
    ("boosting with 60 stages", lambda: GradientBoostingClassifier(n_estimators=60, random_state=0)),
    ("histogram boosting", lambda: HistGradientBoostingClassifier(max_iter=40, random_state=0)),
    ("support vectors", scaled(lambda: SVC(probability=True, random_state=0))),
    ("network of 30", scaled(lambda: MLPClassifier(30, max_iter=300, random_state=0))),
]
