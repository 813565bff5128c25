import os

import pandas as pd

train = pd.read_csv("input/train.csv", parse_dates=["date"])
test = pd.read_csv("input/test.csv", parse_dates=["date"])
for frame in (train, test):
    frame["month"] = frame["date"].dt.month
keys = ["airport", "month", "hour"]


def means(known, wanted):
    return wanted.merge(known.groupby(keys)["temp"].mean().rename("guess").reset_index(), "left", on=keys)["guess"].to_numpy()


middle = train["date"].dt.day.between(11, 14)
mae = abs(means(train[~middle], train[middle]) - train.loc[middle, "temp"]).mean()
print("hidden hours for validation:", int(middle.sum()))
test["temp"] = means(train, test)
os.makedirs("submission", exist_ok=True)
test[["id", "temp"]].to_csv("submission/submission.csv", index=False)
print(f"validation mae: {mae:.6f}")
