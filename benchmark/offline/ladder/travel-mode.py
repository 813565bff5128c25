"""Board models of `travel-mode`: rules, models of one row, and models of a traveller's four rows."""
import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

MODES = ["air", "bus", "car", "train"]
OFFER = ["ttme", "invc", "invt", "gc"]


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    return train.drop(columns="choice"), train["choice"], test


def predict(model, rows):
    """Four rows of each traveller in the order of MODES, travellers in the order of the sample submission."""
    scores = model.scores(rows).reshape(-1, len(MODES))
    return [" ".join(np.array(MODES)[np.argsort(-row, kind="stable")]) for row in scores]


class Rule:
    """A fixed formula of one row; nothing is learnt."""

    def __init__(self, formula):
        self.formula = formula

    def fit(self, rows, choice):
        return self

    def scores(self, rows):
        return self.formula(rows).to_numpy(float)


class Shares(Rule):
    """The modes by how often they are taken."""

    def __init__(self):
        pass

    def fit(self, rows, choice):
        shares = choice.groupby(rows["mode"]).mean()
        self.formula = lambda rows: rows["mode"].map(shares)
        return self


class OfRow:
    """A classifier of single rows, taken or not."""

    def __init__(self, classifier, columns, with_mode):
        self.classifier, self.columns, self.with_mode = classifier, columns, with_mode

    def table(self, rows):
        flags = [(rows["mode"] == mode).astype(float) for mode in MODES] if self.with_mode else []
        return np.column_stack([rows[column] for column in self.columns] + flags)

    def fit(self, rows, choice):
        self.classifier.fit(self.table(rows), choice)
        return self

    def scores(self, rows):
        return self.classifier.predict_proba(self.table(rows))[:, 1]


class OfTraveller:
    """A classifier of travellers into the modes, from all their numbers."""

    def __init__(self, classifier):
        self.classifier = classifier

    def table(self, rows):
        offers = rows[OFFER].to_numpy(float).reshape(len(rows) // len(MODES), -1)
        return np.column_stack([offers, rows[["hinc", "psize"]].to_numpy(float)[:: len(MODES)]])

    def fit(self, rows, choice):
        self.classifier.fit(self.table(rows), choice.to_numpy().reshape(-1, len(MODES)).argmax(axis=1))
        return self

    def scores(self, rows):
        return self.classifier.predict_proba(self.table(rows)).ravel()


def of_row(make_classifier, columns=OFFER, with_mode=False):
    return lambda: OfRow(make_pipeline(StandardScaler(), make_classifier()), columns, with_mode)


def of_traveller(make_classifier):
    return lambda: OfTraveller(make_pipeline(StandardScaler(), make_classifier()))


LADDER = [
    ("alphabet", lambda: Rule(lambda rows: 0 * rows["gc"])),
    ("shares", Shares),
    ("dearest first", lambda: Rule(lambda rows: rows["invc"])),
    ("cheapest first", lambda: Rule(lambda rows: -rows["invc"])),
    ("fastest first", lambda: Rule(lambda rows: -rows["invt"])),
    ("least waiting first", lambda: Rule(lambda rows: -rows["ttme"])),
    ("least generalised cost first", lambda: Rule(lambda rows: -rows["gc"])),
    ("least time in all first", lambda: Rule(lambda rows: -rows["ttme"] - rows["invt"])),
    ("row: logistic of costs", of_row(LogisticRegression, columns=["invc", "gc"])),
    ("row: logistic", of_row(LogisticRegression)),
    ("row: logistic with modes", of_row(LogisticRegression, with_mode=True)),
    ("row: gaussian naive bayes", of_row(GaussianNB)),
    ("row: 15 neighbours", of_row(lambda: KNeighborsClassifier(15))),
    ("row: 25 neighbours with modes", of_row(lambda: KNeighborsClassifier(25), with_mode=True)),
    ("row: tree of depth 3", of_row(lambda: DecisionTreeClassifier(max_depth=3, random_state=0))),
    ("row: boosting with modes", of_row(lambda: GradientBoostingClassifier(n_estimators=50, random_state=0), with_mode=True)),
    ("row: support vectors", of_row(lambda: SVC(probability=True, random_state=0))),
    ("row: small network with modes", of_row(lambda: MLPClassifier(8, max_iter=500, random_state=0), with_mode=True)),
    ("traveller: logistic", of_traveller(lambda: LogisticRegression(max_iter=500))),
    ("traveller: strong-penalty logistic", of_traveller(lambda: LogisticRegression(C=0.05, max_iter=500))),
    ("traveller: linear discriminant", of_traveller(LinearDiscriminantAnalysis)),
    ("traveller: gaussian naive bayes", of_traveller(GaussianNB)),
    ("traveller: 10 neighbours", of_traveller(lambda: KNeighborsClassifier(10))),
    ("traveller: tree of depth 4", of_traveller(lambda: DecisionTreeClassifier(max_depth=4, random_state=0))),
    ("traveller: random forest", of_traveller(lambda: RandomForestClassifier(random_state=0))),
    ("traveller: extra trees", of_traveller(lambda: ExtraTreesClassifier(random_state=0))),
    ("traveller: adaboost", of_traveller(lambda: AdaBoostClassifier(random_state=0))),
    ("traveller: histogram boosting", of_traveller(lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0))),
]
