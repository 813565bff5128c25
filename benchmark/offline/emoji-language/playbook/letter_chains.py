"""A letter model for each language: how likely is each letter after the two or three before it, with back-off; then Bayes."""
import os
from collections import defaultdict
from math import log

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold

LONGEST = 3  # letters of context
TRUST = 1.5  # how much the shorter context weighs


class LetterModel:
    def __init__(self, texts, letters):
        self.letters = letters
        self.counts = defaultdict(lambda: defaultdict(int))
        self.totals, self.kinds = defaultdict(int), defaultdict(int)
        for text in texts:
            padded = "^" * LONGEST + text.lower() + "$"
            for i in range(LONGEST, len(padded)):
                for size in range(LONGEST + 1):
                    context = padded[i - size : i]
                    self.kinds[context] += self.counts[context][padded[i]] == 0
                    self.counts[context][padded[i]] += 1
                    self.totals[context] += 1

    def probability(self, letter, context):
        shorter = self.probability(letter, context[1:]) if context else 1 / self.letters
        if context not in self.totals:
            return shorter
        weight = TRUST * self.kinds[context]
        return (self.counts[context].get(letter, 0) + weight * shorter) / (self.totals[context] + weight)

    def log_likelihood(self, text):
        padded = "^" * LONGEST + text.lower() + "$"
        return sum(log(self.probability(padded[i], padded[i - LONGEST : i])) for i in range(LONGEST, len(padded)))


def score(rows, texts, languages):
    letters = len(set("".join(rows["text"]).lower())) + 500
    models = [LetterModel(rows.loc[rows["language"] == name, "text"], letters) for name in languages]
    return np.array([[model.log_likelihood(text) for model in models] for text in texts])


def soften(scores, heat):
    p = np.exp((scores - scores.max(axis=1, keepdims=True)) * heat)
    return p / p.sum(axis=1, keepdims=True)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    languages = sorted(train["language"].unique())
    truth = train["language"].map(languages.index).to_numpy()
    scores = np.zeros((len(train), len(languages)))
    for inner, outer in KFold(3, shuffle=True, random_state=4).split(train):
        scores[outer] = score(train.iloc[inner], train["text"].iloc[outer], languages)
        print("scored", len(outer))

    def loss(heat, rows):
        return -np.log(soften(scores[rows], heat)[np.arange(len(scores[rows])), truth[rows]] + 1e-15).mean()

    odd, even = slice(1, None, 2), slice(0, None, 2)
    heats = [minimize_scalar(loss, bounds=(0.2, 1.5), args=(half,), method="bounded").x for half in (odd, even)]
    honest = (loss(heats[0], even) + loss(heats[1], odd)) / 2
    final = soften(score(train, test["text"], languages), np.mean(heats))
    result = pd.DataFrame(final, columns=languages)
    result.insert(0, "id", test["id"])
    os.makedirs("submission", exist_ok=True)
    result.to_csv("submission/submission.csv", index=False)
    print(f"validation log_loss: {honest:.5f}")


if __name__ == "__main__":
    main()
