import os

import numpy as np
import pandas as pd


def bridge(known, wanted):
    """Linear in time between the same hour of the nearest known days; at the end of the year the last one is kept."""
    guess = pd.Series(np.nan, index=wanted.index)
    for (airport, hour), rows in wanted.groupby(["airport", "hour"]):
        line = known[(known["airport"] == airport) & (known["hour"] == hour)].sort_values("date")
        guess[rows.index] = np.interp(
            rows["date"].dt.dayofyear, line["date"].dt.dayofyear, line["temp"],
        )
    return guess


def main():
    train = pd.read_csv("input/train.csv", parse_dates=["date"])
    test = pd.read_csv("input/test.csv", parse_dates=["date"])
    errors = []
    for first in (6, 12, 18):
        hidden = train["date"].dt.day.between(first, first + 3)
        gap = bridge(train[~hidden], train[hidden]) - train.loc[hidden, "temp"]
        errors.append(gap.abs().mean())
        print(f"days {first} to {first + 3} hidden: {errors[-1]:.3f}")
    test["temp"] = bridge(train, test).round(2)
    os.makedirs("submission", exist_ok=True)
    test[["id", "temp"]].to_csv("submission/submission.csv", index=False)
    print(f"validation mae: {np.mean(errors):.6f}")


if __name__ == "__main__":
    main()
