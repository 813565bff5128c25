# Look for names of licences in the text, in order of how telling they are; otherwise say gpl.
import os
import re

import pandas as pd
from sklearn.metrics import f1_score

NAMES = [
    ("agpl", r"agpl|affero"),
    ("lgpl", r"lgpl|lesser general|library general"),
    ("gfdl", r"gfdl|free documentation|invariant section"),
    ("mpl", r"\bmpl\b|mozilla|netscape|cddl|covered (code|software)"),
    ("apache", r"apache|asf"),
    ("creative-commons", r"creative ?commons|cc[ -]by|attribution-"),
    ("public-domain", r"public domain|cc0|unlicense|wtf"),
    ("bsd", r"\bbsd|redistributions? (of|in) |endorse or promote"),
    ("mit", r"\bmit\b|x11|free of charge, to any"),
    ("gpl", r"gpl|general public"),
]


def guess(text):
    return next((family for family, pattern in NAMES if re.search(pattern, text.lower())), "gpl")


train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
found = train["text"].map(guess)
print(pd.crosstab(train["family"], found == train["family"]))
test["family"] = test["text"].map(guess)
os.makedirs("submission", exist_ok=True)
test[["id", "family"]].to_csv("submission/submission.csv", index=False)
print(f"validation macro_f1: {f1_score(train['family'], found, average='macro'):.5f}")
