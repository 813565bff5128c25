import os

import pandas as pd
from sklearn.metrics import mean_poisson_deviance

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
last = train["study_year"] == train["study_year"].max()
history = train[~last].groupby("person")["visits"].mean().rename("history")
by_health = train[~last].groupby("self_rated")["visits"].mean()

held = train[last].merge(history, left_on="person", right_index=True, how="inner")
print("persons with history:", len(held), "of", int(last.sum()))
value = mean_poisson_deviance(train.loc[last, "visits"], held["history"].clip(lower=0.1))

guess = test["person"].map(history).fillna(test["self_rated"].map(by_health))
os.makedirs("submission", exist_ok=True)
test[["id"]].assign(visits=guess.clip(lower=0.1)).to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {value:.6f}")
