"""A beam search scored by a chain model of (letter, sounds) pairs and by extremely random trees on letter windows."""
import os
from collections import Counter, defaultdict
from math import log

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier

ALPHABET = "_aeiouyhwrlmnszcxkgqjtdpbfv"
TREES = 6
MEMORY = 4
BEAM = 4
START, END = ("<", ""), (">", "")
TRUST = 0.9  # in the trees

UNSEEN = (6.0, 5.0, 8.0)  # price of giving a letter no, one or two sounds it was never seen with


def segment(word, sounds, prices):
    """The cheapest way to share out the sounds, in order, among the letters: none, one or two each."""
    n, m = len(word), len(sounds)
    spans = [[""] * (m + 1), [""] + sounds, ["", ""] + [f"{a} {b}" for a, b in zip(sounds, sounds[1:])]]
    last, moves = [0.0] + [np.inf] * m, []
    for i, letter in enumerate(word, 1):
        table, row, move = prices.get(letter, {}), [np.inf] * (m + 1), [0] * (m + 1)
        for j in range(max(0, i * m // n - 2), min(m, i * m // n + 3) + 1):
            for size in range(min(j, 2) + 1):
                total = last[j - size] + table.get(spans[size][j], UNSEEN[size])
                if total < row[j]:
                    row[j], move[j] = total, size
        last = row
        moves.append(move)
    if last[m] == np.inf:
        return None
    pieces = []
    for move in reversed(moves):
        pieces.append(spans[move[m]][m])
        m -= move[m]
    return pieces[::-1]


def align(words, pronunciations, rounds=2):
    """Learns prices from equal positions first, then from its own segmentations."""
    counts = defaultdict(Counter)
    for word, sounds in zip(words, pronunciations):
        for at, letter in enumerate(word):
            counts[letter][""] += 0.15
            for j, sound in enumerate(sounds):
                counts[letter][sound] += 0.1 ** abs((at + 0.5) / len(word) * len(sounds) - j - 0.5)
    for _ in range(rounds):
        prices = {a: {b: np.log(c.total() / k) for b, k in c.items()} for a, c in counts.items()}
        cut = [segment(word, sounds, prices) for word, sounds in zip(words, pronunciations)]
        counts = defaultdict(Counter)
        for word, pieces in zip(words, cut):
            for letter, piece in zip(word, pieces or ()):
                counts[letter][piece] += 1
    return cut


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


VOWELS = set("aeiouy")


def look(word, i):
    """Letters around, how far the ends are, vowels around, and whether the letter is doubled."""
    padded = "____" + word + "____"
    row = [ALPHABET.index(c) for c in padded[i : i + 9]]
    vowels = [k for k, c in enumerate(word) if c in VOWELS]
    row += [i, len(word) - i, sum(k < i for k in vowels), sum(k > i for k in vowels)]
    row += [padded[i + 3] == word[i], padded[i + 5] == word[i], word.endswith("e")]
    return row


def forest(words, cut):
    rows = [look(word, i) for word, pieces in zip(words, cut) for i in range(len(pieces or ()))]
    return ExtraTreesClassifier(TREES, max_features=9, min_samples_leaf=1, random_state=5).fit(
        rows, [piece for pieces in cut for piece in pieces or ()])


class PairModel:
    """Chains of (letter, sounds) pairs with back-off from long to short memories (Witten-Bell)."""

    def __init__(self, words, cut):
        self.counts, self.choices = defaultdict(Counter), defaultdict(Counter)
        for word, pieces in zip(words, cut):
            chain = (START,) * MEMORY + tuple(zip(word, pieces or ()))
            if pieces:
                chain += (END,)
                for i in range(MEMORY, len(chain)):
                    self.choices[chain[i][0]][chain[i]] += 1
                    for size in range(MEMORY + 1):
                        self.counts[chain[i - size : i]][chain[i]] += 1
        self.totals = {context: (c.total(), len(c)) for context, c in self.counts.items()}
        self.known = {}

    def probability(self, pair, context):
        key = pair, context
        if key not in self.known:
            shorter = self.probability(pair, context[1:]) if context else 1e-4
            total, kinds = self.totals.get(context, (0, 0))
            self.known[key] = shorter if not total else (self.counts[context][pair] + kinds * shorter) / (total + kinds)
        return self.known[key]


def say(words, chains, trees):
    chances = np.log(trees.predict_proba([look(word, i) for word in words for i in range(len(word))]) + 0.01)
    at, result = 0, []
    for word in words:
        beam = [(0.0, (START,) * MEMORY, ())]
        for letter in word:
            pieces = np.argsort(-chances[at])[:5]
            options = [((letter, trees.classes_[k]), TRUST * chances[at, k]) for k in pieces]
            longer = [(score + extra + log(chains.probability(pair, memory)), memory[1:] + (pair,), said + (pair[1],))
                      for score, memory, said in beam for pair, extra in options]
            beam = sorted(longer, reverse=True)[:BEAM]
            at += 1
        best = max(beam, key=lambda path: path[0] + log(chains.probability(END, path[1])))
        result.append(" ".join(filter(None, best[2])).split())
    return result


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    words, truth = train["word"].tolist(), train["pronunciation"].str.split().tolist()
    inner = len(words) * 8 // 9
    cut = align(words[:inner], truth[:inner])
    guesses = say(words[inner:], PairModel(words[:inner], cut), forest(words[:inner], cut))
    errors = [distance(a, b) for a, b in zip(guesses, truth[inner:])]
    print("held out words:", len(errors))
    cut = align(words, truth)
    guesses = say(test["word"].tolist(), PairModel(words, cut), forest(words, cut))
    test["pronunciation"] = [" ".join(sounds) for sounds in guesses]
    os.makedirs("submission", exist_ok=True)
    test[["id", "pronunciation"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_levenshtein: {np.mean(errors):.5f}")


if __name__ == "__main__":
    main()
