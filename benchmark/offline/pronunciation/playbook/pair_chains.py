"""A chain model of (letter, sounds) pairs with back-off, searched with a beam."""
import os
from collections import Counter, defaultdict
from math import log

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd

MEMORY = 4
BEAM = 6
START, END = ("<", ""), (">", "")

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


def align(words, pronunciations, rounds=3):
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

    def say(self, word):
        beam = [(0.0, (START,) * MEMORY, ())]
        for letter in word + ">":
            options = [pair for pair, _ in self.choices[letter].most_common(7)]
            longer = [(score + log(self.probability(pair, memory)), memory[1:] + (pair,), said + (pair[1],))
                      for score, memory, said in beam for pair in options]
            beam = sorted(longer, reverse=True)[:BEAM]
        return " ".join(filter(None, beam[0][2])).split()


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    words, truth = train["word"].tolist(), train["pronunciation"].str.split().tolist()
    inner = len(words) * 7 // 8
    model = PairModel(words[:inner], align(words[:inner], truth[:inner]))
    errors = [distance(model.say(word), sounds) for word, sounds in zip(words[inner:], truth[inner:])]
    print("held out words:", len(errors))
    model = PairModel(words, align(words, truth))
    test["pronunciation"] = [" ".join(model.say(word)) for word in test["word"]]
    os.makedirs("submission", exist_ok=True)
    test[["id", "pronunciation"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_levenshtein: {np.mean(errors):.5f}")


if __name__ == "__main__":
    main()
