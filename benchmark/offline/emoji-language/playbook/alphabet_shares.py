# Which alphabet is it, and which languages use that alphabet? Shares of languages by alphabet and by the rarest letter.
import os
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
sample = pd.read_csv("input/sample_submission.csv")
languages = list(sample.columns[1:])


def alphabet(text):
    names = [unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()]
    kinds = set(names)
    if "HIRAGANA" in kinds or "KATAKANA" in kinds:
        return "KANA"
    strange = [c for c in text.lower() if c.isalpha() and ord(c) > 127]
    main = Counter(names).most_common(1)[0][0] if names else "?"
    return main + ("+" + min(strange) if main == "LATIN" and strange else "")


def table(rows):
    counts = pd.crosstab(rows["text"].map(alphabet), rows["language"]).reindex(columns=languages, fill_value=0)
    return (counts + 0.05).div((counts + 0.05).sum(axis=1), axis=0)


def look_up(shares, texts):
    p = shares.reindex([alphabet(t) for t in texts]).to_numpy()
    return np.where(np.isnan(p), 1 / len(languages), p)


losses = []
for part in range(5):
    outer = train.index % 5 == part
    p = look_up(table(train[~outer]), train.loc[outer, "text"])
    losses += list(-np.log(p[np.arange(outer.sum()), train.loc[outer, "language"].map(languages.index)]))
sample[languages] = look_up(table(train), test["text"])
os.makedirs("submission", exist_ok=True)
sample.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {np.mean(losses):.5f}")
