import os

import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GroupKFold

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
x, y = train["visits_before"].to_numpy(float), train["visits"].to_numpy(float)


def credibility(x, y):
    b = np.cov(x, y)[0, 1] / np.var(x)
    return y.mean() - b * x.mean(), b


oof = np.zeros(len(y))
for a, b in GroupKFold(5).split(x, groups=train["household"]):
    shift, slope = credibility(x[a], y[a])
    oof[b] = shift + slope * np.minimum(x[b], 25)
shift, slope = credibility(x, y)
print(f"visits = {shift:.3f} + {slope:.3f} * visits_before")
out = pd.DataFrame({"id": test["id"], "visits": shift + slope * test["visits_before"].clip(upper=25)})
os.makedirs("submission", exist_ok=True)
out.to_csv("submission/submission.csv", index=False)
print(f"validation mean_poisson_deviance: {mean_poisson_deviance(y, oof):.6f}")
