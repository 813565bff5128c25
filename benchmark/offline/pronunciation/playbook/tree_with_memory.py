"""A decision tree on a window of letters and on the sounds of the two letters before."""
import os
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

ALPHABET = "_aeiouyhwrlmnszcxkgqjtdpbfv"

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


def look(word, i):
    """The letter with four on either side, as numbers; vowels come first."""
    padded = "____" + word + "____"
    return [ALPHABET.index(c) for c in padded[i : i + 9]]


def train_tree(words, cut):
    rows, pieces_seen = [], []
    for word, pieces in zip(words, cut):
        before = ["", ""]
        for i, piece in enumerate(pieces or ()):
            rows.append(look(word, i) + [hash_of(p) for p in before])
            pieces_seen.append(piece)
            before = [before[1], piece]
    return DecisionTreeClassifier(min_samples_leaf=3, random_state=2).fit(rows, pieces_seen)


def hash_of(piece):
    """A number for the sounds given to a letter before: vowels below zero, silence is zero."""
    return 0 if not piece else sum(map(ord, piece)) * (-1 if piece[0] in "AEIOU" else 1)


def say(words, tree):
    """All words at once, one letter after the other, as the sounds before are needed."""
    said = [[] for _ in words]
    for i in range(max(map(len, words))):
        active = [k for k, word in enumerate(words) if i < len(word)]
        rows = [look(words[k], i) + [hash_of(p) for p in (["", ""] + said[k])[-2:]] for k in active]
        for k, piece in zip(active, tree.predict(rows)):
            said[k].append(piece)
    return [" ".join(filter(None, pieces)).split() for pieces in said]


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    words, truth = train["word"].tolist(), train["pronunciation"].str.split().tolist()
    inner = len(words) * 4 // 5
    tree = train_tree(words[:inner], align(words[:inner], truth[:inner]))
    print("leaves:", tree.get_n_leaves())
    errors = [distance(a, b) for a, b in zip(say(words[inner:], tree), truth[inner:])]
    tree = train_tree(words, align(words, truth))
    test["pronunciation"] = [" ".join(sounds) for sounds in say(test["word"].tolist(), tree)]
    os.makedirs("submission", exist_ok=True)
    test[["id", "pronunciation"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_levenshtein: {np.mean(errors):.5f}")


if __name__ == "__main__":
    main()
