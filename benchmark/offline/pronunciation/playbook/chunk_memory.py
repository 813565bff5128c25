"""Covers a word with the longest letter chunks seen before and joins their commonest sounds."""
import os
from collections import Counter, defaultdict

import numpy as np
import pandas as pd

LONGEST = 6

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


def remember(words, cut):
    """For each chunk of letters, with the ends of words marked, its commonest sounds."""
    seen = defaultdict(Counter)
    for word, pieces in zip(words, cut):
        if pieces:
            letters, pieces = "<" + word + ">", [""] + pieces + [""]
            for size in range(1, LONGEST + 1):
                for i in range(len(letters) - size + 1):
                    seen[letters[i : i + size]][" ".join(filter(None, pieces[i : i + size]))] += 1
    return {chunk: sounds.most_common(1)[0][0] for chunk, sounds in seen.items() if sounds.total() > 1}


def say(word, memory):
    letters, at, sounds = "<" + word + ">", 0, []
    while at < len(letters):
        size = next((s for s in range(LONGEST, 0, -1) if letters[at : at + s] in memory), 1)
        sounds += memory.get(letters[at : at + size], "").split()
        at += size
    return sounds


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    words, truth = train["word"].tolist(), train["pronunciation"].str.split().tolist()
    errors = []
    for part in range(2):
        known = [i for i in range(len(words)) if i % 2 != part]
        memory = remember([words[i] for i in known], align([words[i] for i in known], [truth[i] for i in known]))
        errors += [distance(say(words[i], memory), truth[i]) for i in range(len(words)) if i % 2 == part]
        print("chunks:", len(memory))
    memory = remember(words, align(words, truth))
    test["pronunciation"] = [" ".join(say(word, memory)) for word in test["word"]]
    os.makedirs("submission", exist_ok=True)
    test[["id", "pronunciation"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mean_levenshtein: {np.mean(errors):.5f}")


if __name__ == "__main__":
    main()
