"""Extremely random trees on letter codes, vowel counts and positions decide the sounds of each letter."""
import os
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier

ALPHABET = "_aeiouyhwrlmnszcxkgqjtdpbfv"
TREES = 12

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


def align(words, pronunciations, rounds=4):
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


def say(words, model):
    pieces = iter(model.predict([look(word, i) for word in words for i in range(len(word))]))
    return [" ".join(filter(None, [next(pieces) for _ in word])).split() for word in words]


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    words, truth = train["word"].tolist(), train["pronunciation"].str.split().tolist()
    inner = len(words) * 5 // 6
    model = forest(words[:inner], align(words[:inner], truth[:inner]))
    errors = [distance(a, b) for a, b in zip(say(words[inner:], model), truth[inner:])]
    print("held out words:", len(errors))
    model = forest(words, align(words, truth))
    test["pronunciation"] = [" ".join(sounds) for sounds in say(test["word"].tolist(), model)]
    os.makedirs("submission", exist_ok=True)
    test[["id", "pronunciation"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_levenshtein: {np.mean(errors):.5f}")


if __name__ == "__main__":
    main()
