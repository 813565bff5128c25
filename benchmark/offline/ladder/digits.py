"""Board models of `digits`: the 64 grey values, default or plain settings."""
import zipfile

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    with zipfile.ZipFile(public / "images.zip") as archive:
        def pixels(part, ids):
            images = [Image.open(archive.open(f"{part}/{name}.png")) for name in ids]
            return np.array([np.asarray(image).ravel() for image in images]) / 255

        return pixels("train", train["id"]), train["digit"], pixels("test", test["id"])


LADDER = [
    ("always the commonest", lambda: DummyClassifier(strategy="most_frequent")),
    ("stump", lambda: DecisionTreeClassifier(max_depth=1, random_state=0)),
    ("tree of depth 4", lambda: DecisionTreeClassifier(max_depth=4, random_state=0)),
    ("tree", lambda: DecisionTreeClassifier(random_state=0)),
    ("gaussian naive bayes", GaussianNB),
    ("bernoulli naive bayes", lambda: BernoulliNB(binarize=0.5)),
    ("multinomial naive bayes", MultinomialNB),
    ("nearest centroid", NearestCentroid),
    ("5 neighbours on 2 components", lambda: make_pipeline(PCA(2, random_state=0), KNeighborsClassifier())),
    ("5 neighbours on 6 components", lambda: make_pipeline(PCA(6, random_state=0), KNeighborsClassifier())),
    ("40 neighbours", lambda: KNeighborsClassifier(40)),
    ("5 neighbours", KNeighborsClassifier),
    ("logistic on 10 pixels", lambda: make_pipeline(SelectKBest(k=10), LogisticRegression(max_iter=500))),
    ("logistic", lambda: LogisticRegression(max_iter=500)),
    ("ridge", RidgeClassifier),
    ("perceptron", lambda: Perceptron(random_state=0)),
    ("linear support vectors", lambda: LinearSVC(random_state=0)),
    ("linear discriminant", LinearDiscriminantAnalysis),
    ("quadratic discriminant", lambda: QuadraticDiscriminantAnalysis(reg_param=0.05)),
    ("adaboost", lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), random_state=0)),
    ("boosting with 20 stages", lambda: GradientBoostingClassifier(n_estimators=20, random_state=0)),
    ("histogram boosting", lambda: HistGradientBoostingClassifier(max_iter=40, random_state=0)),
    ("random forest of depth 5", lambda: RandomForestClassifier(max_depth=5, random_state=0)),
    ("random forest", lambda: RandomForestClassifier(random_state=0)),
    ("extra trees", lambda: ExtraTreesClassifier(random_state=0)),
    ("network of 12", lambda: make_pipeline(StandardScaler(), MLPClassifier(12, max_iter=300, random_state=0))),
    ("network of 64", lambda: MLPClassifier(64, max_iter=400, random_state=0)),
    ("support vectors", SVC),
]
