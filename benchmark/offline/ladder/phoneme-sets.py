"""Board models of `phoneme-sets`: a yes or no for each sound from letters and letter pairs."""
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

SOUNDS = ("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH").split()


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    present = [[sound in cell.split() for sound in SOUNDS] for cell in train["phonemes"]]
    return train["word"], np.array(present, int), test["word"]


def predict(model, words):
    return [" ".join(np.array(SOUNDS)[row > 0]) for row in np.asarray(model.predict(words))]


class Commonest(ClassifierMixin, BaseEstimator):
    """The same set for every word: the commonest sounds."""

    def __init__(self, count):
        self.count = count

    def fit(self, words, present):
        self.row_ = np.zeros(present.shape[1], int)
        self.row_[np.argsort(-present.mean(axis=0))[: self.count]] = 1
        return self

    def predict(self, words):
        return np.tile(self.row_, (len(words), 1))


def letters(longest, model, edges=False, **options):
    """Edges: a mark before and after the word."""
    def make():
        marked = FunctionTransformer(lambda words: [f"^{word}$" for word in words]) if edges else "passthrough"
        return make_pipeline(marked, CountVectorizer(analyzer="char", ngram_range=(1, longest), **options), model())

    return make


def each(model):
    return lambda: OneVsRestClassifier(model())


def dense(model):
    return lambda: make_pipeline(FunctionTransformer(lambda x: x.toarray(), accept_sparse=True), model())


LADDER = [
    ("the 2 commonest", lambda: Commonest(2)),
    ("the 8 commonest", lambda: Commonest(8)),
    ("the 12 commonest", lambda: Commonest(12)),
    ("letters and bernoulli naive bayes", letters(1, each(BernoulliNB))),
    ("letters and multinomial naive bayes", letters(1, each(MultinomialNB))),
    ("letters and perceptrons", letters(1, each(lambda: Perceptron(random_state=0)))),
    ("letters and logistic", letters(1, each(LogisticRegression))),
    ("letters and tree of depth 8", letters(1, lambda: DecisionTreeClassifier(max_depth=8, random_state=0))),
    ("letters and tree of depth 16", letters(1, lambda: DecisionTreeClassifier(max_depth=16, random_state=0))),
    ("letters and trees of depth 4", letters(1, each(lambda: DecisionTreeClassifier(max_depth=4, random_state=0)))),
    ("letters and 1 neighbour", letters(1, lambda: KNeighborsClassifier(1))),
    ("letters and 9 neighbours", letters(1, lambda: KNeighborsClassifier(9))),
    ("letters and random forest", letters(1, lambda: RandomForestClassifier(50, random_state=0))),
    ("letters and boosting", letters(1, dense(each(lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0))))),
    ("letters and network of 40", letters(1, lambda: MLPClassifier(40, early_stopping=True, random_state=0))),
    ("pairs and 1 neighbour", letters(2, lambda: KNeighborsClassifier(1, metric="cosine"))),
    ("pairs and 5 neighbours", letters(2, lambda: KNeighborsClassifier(5, metric="cosine"))),
    ("pairs and bernoulli naive bayes", letters(2, each(BernoulliNB))),
    ("pairs and ridge", letters(2, each(RidgeClassifier))),
    ("pairs and logistic", letters(2, each(lambda: LogisticRegression(solver="liblinear")))),
    ("pairs and strong-penalty logistic", letters(2, each(lambda: LogisticRegression(C=0.05, solver="liblinear")))),
    ("pairs and random forest", letters(2, lambda: RandomForestClassifier(30, random_state=0))),
    ("pairs and extra trees", letters(2, lambda: ExtraTreesClassifier(30, random_state=0))),
    ("pairs with edges and trees", letters(2, each(lambda: DecisionTreeClassifier(min_samples_leaf=4, random_state=0)), edges=True)),
    ("pairs with edges and chained logistic", letters(2, lambda: ClassifierChain(LogisticRegression(solver="liblinear")), edges=True)),
    ("triples with edges and linear support vectors", letters(3, each(lambda: LinearSVC(C=0.1, random_state=0)), edges=True, min_df=3)),
]
