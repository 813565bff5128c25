"""Board models of `pronunciation`: nearest spellings, and classifiers of the sounds of one letter in its window."""
import math
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

LONGEST = 2  # sounds of one letter
ROUNDS = 4


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    return train["word"], train["pronunciation"], test["word"]


def best_cut(word, sounds, cost):
    """The cheapest way to give every letter its zero to two sounds, in order."""
    best = {0: (0.0, [])}
    for letter in word:
        reached = {}
        for used, (total, path) in best.items():
            for count in range(min(LONGEST, len(sounds) - used) + 1):
                piece = " ".join(sounds[used : used + count])
                price = total + cost(letter, piece)
                if used + count not in reached or price < reached[used + count][0]:
                    reached[used + count] = price, path + [piece]
        best = reached
    return best.get(len(sounds), (0.0, None))[1]


def align(words, pronunciations):
    """For each word the sounds of its letters; hard expectation-maximisation, words that do not fit are left out."""
    sounds = [p.split() for p in pronunciations]
    together = defaultdict(Counter)
    for word, sequence in zip(words, sounds):
        for i, letter in enumerate(word):
            middle = i * len(sequence) / len(word)
            for j, sound in enumerate(sequence):
                together[letter][sound] += math.exp(-abs(j - middle))
    for letter, counter in together.items():
        counter[""] = 0.2 * counter.total()
    for _ in range(ROUNDS):
        totals = {letter: counter.total() for letter, counter in together.items()}

        def cost(letter, piece):
            return -math.log((together[letter][piece] + 0.01) / (totals[letter] + 1))

        cuts = [best_cut(word, sequence, cost) for word, sequence in zip(words, sounds)]
        together = defaultdict(Counter)
        for word, cut in zip(words, cuts):
            for letter, piece in zip(word, cut or []):
                together[letter][piece] += 1
    return cuts


class ByLetter:
    """A classifier of the sounds of one letter, seen with `left` letters before and `right` after it."""

    def __init__(self, classifier, left, right):
        self.classifier, self.left, self.right = classifier, left, right

    def windows(self, word):
        padded = "_" * self.left + word + "_" * self.right
        return [list(padded[i : i + self.left + 1 + self.right]) for i in range(len(word))]

    def fit(self, words, pronunciations):
        pairs = [(word, cut) for word, cut in zip(words, align(words, pronunciations)) if cut]
        windows = [window for word, _ in pairs for window in self.windows(word)]
        pieces = [piece for _, cut in pairs for piece in cut]
        self.encoder = OneHotEncoder(handle_unknown="ignore").fit(windows)
        self.classifier.fit(self.encoder.transform(windows), pieces)
        return self

    def predict(self, words):
        pieces = iter(self.classifier.predict(self.encoder.transform([w for word in words for w in self.windows(word)])))
        return [" ".join(piece for piece in [next(pieces) for _ in word] if piece) for word in words]


class Nearest:
    """The pronunciation of the training word with the most alike letter sequences."""

    def __init__(self, shortest, longest):
        self.vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(shortest, longest))

    def fit(self, words, pronunciations):
        self.pronunciations = np.array(pronunciations)
        self.neighbours = NearestNeighbors(n_neighbors=1, metric="cosine").fit(self.vectorizer.fit_transform(words))
        return self

    def predict(self, words):
        rows = self.neighbours.kneighbors(self.vectorizer.transform(words), return_distance=False)
        return self.pronunciations[rows[:, 0]]


class Constant:
    """The same sounds for every word."""

    def __init__(self, sounds):
        self.sounds = sounds

    def fit(self, words, pronunciations):
        return self

    def predict(self, words):
        return [self.sounds] * len(words)


def by_letter(make_classifier, left, right):
    return lambda: ByLetter(make_classifier(), left, right)


def tree(**options):
    return lambda: DecisionTreeClassifier(random_state=0, **options)


LADDER = [
    ("four commonest sounds", lambda: Constant("S AH N T")),
    ("one sound", lambda: Constant("AH")),
    ("nearest by letters", lambda: Nearest(1, 1)),
    ("nearest by pairs", lambda: Nearest(2, 2)),
    ("nearest by triples", lambda: Nearest(3, 3)),
    ("nearest by one to four", lambda: Nearest(1, 4)),
    ("commonest sound for every letter", by_letter(lambda: DummyClassifier(), 0, 0)),
    ("commonest sound of the letter", by_letter(tree(), 0, 0)),
    ("tree of the letter and the next", by_letter(tree(), 0, 1)),
    ("tree of three letters", by_letter(tree(), 1, 1)),
    ("tree of five letters with leaves of 20", by_letter(tree(min_samples_leaf=20), 2, 2)),
    ("tree of five letters", by_letter(tree(), 2, 2)),
    ("bernoulli naive bayes of three letters", by_letter(BernoulliNB, 1, 1)),
    ("bernoulli naive bayes of seven letters", by_letter(BernoulliNB, 3, 3)),
    ("multinomial naive bayes of five letters", by_letter(MultinomialNB, 2, 2)),
    ("perceptrons of three letters", by_letter(lambda: Perceptron(random_state=0), 1, 1)),
    ("perceptrons of five letters", by_letter(lambda: Perceptron(random_state=0), 2, 2)),
    ("logistic of the letter and the next", by_letter(lambda: LogisticRegression(max_iter=30), 0, 1)),
    ("logistic of three letters", by_letter(lambda: LogisticRegression(max_iter=40), 1, 1)),
    ("descent on five letters", by_letter(lambda: SGDClassifier(random_state=0), 2, 2)),
    ("linear support vectors of five letters", by_letter(lambda: LinearSVC(random_state=0), 2, 2)),
    ("1 neighbour of three letters", by_letter(lambda: KNeighborsClassifier(1, metric="cosine"), 1, 1)),
    ("5 neighbours of five letters", by_letter(lambda: KNeighborsClassifier(5, metric="cosine"), 2, 2)),
    ("random forest of three letters", by_letter(lambda: RandomForestClassifier(10, min_samples_leaf=2, random_state=0), 1, 1)),
    ("extra trees of seven letters", by_letter(lambda: ExtraTreesClassifier(10, random_state=0), 3, 3)),
    ("network of 50 on five letters", by_letter(lambda: MLPClassifier(50, max_iter=8, random_state=0), 2, 2)),
]
