import os

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

LEVELS = [["size"], ["size", "clarity"], ["size", "clarity", "color"]]


def with_size(frame):
    edges = [0, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 9]
    return frame.assign(size=np.digitize(frame["carat"], edges))


def look_up(known, wanted, strength=4.0):
    """Log price per carat, each level drawn towards the one above."""
    target = np.log1p(known["price"]) - np.log(known["carat"])
    guess_known = np.full(len(known), target.mean())
    guess = np.full(len(wanted), target.mean())
    for keys in LEVELS:
        gap = (target - guess_known).groupby([known[k] for k in keys]).agg(["sum", "count"])
        shift = gap["sum"] / (gap["count"] + strength)
        def find(frame):
            index = pd.MultiIndex.from_frame(frame[keys]) if len(keys) > 1 else frame[keys[0]]
            return shift.reindex(index).fillna(0).to_numpy()
        guess_known = guess_known + find(known)
        guess = guess + find(wanted)
    return guess + np.log(wanted["carat"].to_numpy())


def main():
    train, test = with_size(pd.read_csv("input/train.csv")), with_size(pd.read_csv("input/test.csv"))
    gaps = []
    for a, b in KFold(5, shuffle=True, random_state=22).split(train):
        guess = look_up(train.iloc[a], train.iloc[b])
        gaps.append(guess - np.log1p(train["price"].to_numpy()[b]))
        print("fold", round(float(np.sqrt(np.mean(gaps[-1] ** 2))), 4))
    out = pd.DataFrame({"id": test["id"], "price": np.expm1(look_up(train, test))})
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation rmsle: {np.sqrt(np.mean(np.concatenate(gaps) ** 2)):.6f}")


if __name__ == "__main__":
    main()
