"""Board models of `emoji-language`: counts of characters, words and short character sequences."""
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    return train["text"], train["language"], test["text"]


def words(model):
    return lambda: make_pipeline(CountVectorizer(), model())


def characters(longest, model):
    return lambda: make_pipeline(CountVectorizer(analyzer="char", ngram_range=(1, longest)), model())


def weighted(longest, model):
    return lambda: make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(1, longest)), model())


def logistic(C=1.0):
    return lambda: LogisticRegression(C=C, max_iter=300)


LADDER = [
    ("equal shares", lambda: DummyClassifier(strategy="prior")),
    ("words and multinomial naive bayes", words(MultinomialNB)),
    ("words and complement naive bayes", words(ComplementNB)),
    ("words and logistic", words(logistic())),
    ("words and weak-penalty logistic", words(logistic(30))),
    ("words and tree", words(lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0))),
    ("letters and tree of depth 6", characters(1, lambda: DecisionTreeClassifier(max_depth=6, random_state=0))),
    ("letters and tree with leaves of 20", characters(1, lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0))),
    ("letters and bernoulli naive bayes", characters(1, BernoulliNB)),
    ("letters and multinomial naive bayes", characters(1, MultinomialNB)),
    ("letters and 30 neighbours", characters(1, lambda: KNeighborsClassifier(30))),
    ("letters and logistic", characters(1, logistic())),
    ("letters and random forest", characters(1, lambda: RandomForestClassifier(min_samples_leaf=2, random_state=0))),
    ("pairs and multinomial naive bayes", characters(2, MultinomialNB)),
    ("pairs and smooth naive bayes", characters(2, lambda: MultinomialNB(alpha=10))),
    ("pairs and logistic", characters(2, logistic())),
    ("pairs and extra trees", characters(2, lambda: ExtraTreesClassifier(min_samples_leaf=3, random_state=0))),
    ("pairs and log-loss descent", characters(2, lambda: SGDClassifier(loss="log_loss", alpha=0.001, random_state=0))),
    ("triples and bernoulli naive bayes", characters(3, BernoulliNB)),
    ("triples and strong-penalty logistic", characters(3, logistic(0.02))),
    ("weighted triples and 15 neighbours", weighted(3, lambda: KNeighborsClassifier(15, metric="cosine"))),
    ("weighted triples and logistic", weighted(3, logistic())),
    ("weighted pairs by 20 components and logistic", lambda: make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 2)), TruncatedSVD(20, random_state=0), LogisticRegression(max_iter=300))),
    ("weighted pairs and support vectors", weighted(2, lambda: SVC(probability=True, random_state=0))),
    ("letters and network of 30", characters(1, lambda: MLPClassifier(30, max_iter=15, random_state=0))),
]
