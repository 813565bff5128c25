# Multinomial naive Bayes on presence of letter pieces, tempered because the pieces overlap.
import os

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
POWER = 0.4


def proba(texts, labels, queries):
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), binary=True)
    model = MultinomialNB(alpha=0.15).fit(vectorizer.fit_transform(texts), labels)
    tempered = np.exp(POWER * model.predict_log_proba(vectorizer.transform(queries)))
    return tempered / tempered.sum(axis=1, keepdims=True), model.classes_


loss = []
for inner, outer in StratifiedKFold(5, shuffle=True, random_state=9).split(train, train["language"]):
    p, classes = proba(train["text"][inner], train["language"][inner], train["text"][outer])
    loss.append(-np.log(p[np.arange(len(outer)), np.searchsorted(classes, train["language"][outer])]).mean())
    print("fold", round(loss[-1], 4))
p, classes = proba(train["text"], train["language"], test["text"])
answer = pd.DataFrame(p.T, columns=classes)
answer.insert(0, "id", test["id"])
os.makedirs("submission", exist_ok=True)
answer.to_csv("submission/submission.csv", index=False)
print(f"validation log_loss: {np.mean(loss):.5f}")
