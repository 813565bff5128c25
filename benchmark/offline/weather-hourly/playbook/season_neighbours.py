import os

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor


def place(frame):
    date = pd.to_datetime(frame["date"])
    clock = frame["hour"] * 2 * np.pi / 24
    wind = np.deg2rad(frame["wind_dir"].fillna(180))
    strength = np.sqrt(frame["wind_speed"].fillna(10))
    return np.column_stack([
        date.dt.dayofyear / 14, 1.3 * np.sin(clock), 1.3 * np.cos(clock),
        strength * np.sin(wind) / 3, strength * np.cos(wind) / 3,
        (frame["pressure"].fillna(1012) - 1016) / 9, frame["visib"] / 10, np.log1p(frame["precip"]),
    ])


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    day = pd.to_datetime(train["date"]).dt.day
    held = day.between(14, 17).to_numpy()
    P, y = place(train), train["temp"].to_numpy()
    knn = KNeighborsRegressor(40, weights="distance")
    mae = np.abs(knn.fit(P[~held], y[~held]).predict(P[held]) - y[held]).mean()
    print("neighbours from", int((~held).sum()), "hours")
    out = test[["id"]].assign(temp=knn.fit(P, y).predict(place(test)))
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation mae: {mae:.6f}")


if __name__ == "__main__":
    main()
