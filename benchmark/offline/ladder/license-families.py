"""Board models of `license-families`: word counts and TF-IDF, default or plain settings."""
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    return train["text"], train["family"], test["text"]


def counts(model, **options):
    return lambda: make_pipeline(CountVectorizer(**options), model())


def weighted(model, **options):
    return lambda: make_pipeline(TfidfVectorizer(**options), model())


def reduced(components, model):
    return lambda: make_pipeline(TfidfVectorizer(), TruncatedSVD(components, random_state=0), model())


LADDER = [
    ("always the commonest", lambda: DummyClassifier(strategy="most_frequent")),
    ("stratified dice", lambda: DummyClassifier(strategy="stratified", random_state=0)),
    ("50 words and bernoulli naive bayes", counts(BernoulliNB, max_features=50)),
    ("counts and bernoulli naive bayes", counts(BernoulliNB)),
    ("counts and multinomial naive bayes", counts(MultinomialNB)),
    ("weights and multinomial naive bayes", weighted(MultinomialNB)),
    ("weights and complement naive bayes", weighted(ComplementNB)),
    ("weights and nearest centroid", weighted(NearestCentroid)),
    ("weights and 1 neighbour", weighted(lambda: KNeighborsClassifier(1))),
    ("weights and 15 neighbours", weighted(lambda: KNeighborsClassifier(15))),
    ("counts and 5 neighbours", counts(KNeighborsClassifier)),
    ("counts and tree of depth 8", counts(lambda: DecisionTreeClassifier(max_depth=8, random_state=0))),
    ("counts and tree", counts(lambda: DecisionTreeClassifier(random_state=0))),
    ("counts and adaboost", counts(lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), random_state=0))),
    ("200 words and boosting", counts(lambda: GradientBoostingClassifier(n_estimators=30, random_state=0), max_features=200)),
    ("counts and random forest of depth 10", counts(lambda: RandomForestClassifier(max_depth=10, random_state=0))),
    ("counts and random forest", counts(lambda: RandomForestClassifier(random_state=0))),
    ("weights and extra trees with leaves of 3", weighted(lambda: ExtraTreesClassifier(min_samples_leaf=3, random_state=0))),
    ("20 components and logistic", reduced(20, lambda: LogisticRegression(max_iter=300))),
    ("100 components and support vectors", reduced(100, SVC)),
    ("weights and logistic", weighted(lambda: LogisticRegression(max_iter=300))),
    ("weights and strong-penalty logistic", weighted(lambda: LogisticRegression(C=0.1, max_iter=300))),
    ("counts and logistic", counts(lambda: LogisticRegression(max_iter=300))),
    ("weights and ridge", weighted(RidgeClassifier)),
    ("weights and linear support vectors", weighted(lambda: LinearSVC(random_state=0))),
    ("hashes and descent", lambda: make_pipeline(HashingVectorizer(n_features=1024), SGDClassifier(random_state=0))),
    ("weights and passive-aggressive", weighted(lambda: PassiveAggressiveClassifier(random_state=0))),
    ("letter triples and logistic", weighted(lambda: LogisticRegression(max_iter=300), analyzer="char", ngram_range=(3, 3), min_df=3)),
    ("500 words and network of 30", counts(lambda: MLPClassifier(30, max_iter=15, random_state=0), max_features=500)),
]
