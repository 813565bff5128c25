# A forest over wide rows: all four offers side by side, with differences to the car.
import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")


def wide_table(rows):
    parts = {}
    for mode, block in rows.groupby("mode"):
        block = block.set_index("traveller").sort_index()
        for fact in ("ttme", "invc", "invt", "gc"):
            parts[f"{mode}_{fact}"] = block[fact]
    wide = pd.DataFrame(parts)
    for mode in ("air", "bus", "train"):
        wide[f"{mode}_slower"] = wide[f"{mode}_ttme"] + wide[f"{mode}_invt"] - wide["car_invt"]
        wide[f"{mode}_dearer"] = wide[f"{mode}_invc"] - wide["car_invc"]
    people = rows.drop_duplicates("traveller").set_index("traveller")[["hinc", "psize"]]
    return wide.join(people)


X, T = wide_table(train), wide_table(test)
y = train.query("chosen == 1").set_index("traveller")["mode"].reindex(X.index)
forest = RandomForestClassifier(250, min_samples_leaf=2, max_features=0.4, random_state=12)
p = cross_val_predict(forest, X, y, cv=5, method="predict_proba")
forest.fit(X, y)
own = p[np.arange(len(y)), np.searchsorted(forest.classes_, y)]
print("largest importances:", pd.Series(forest.feature_importances_, X.columns).nlargest(4).round(3).to_dict())
order = np.argsort(-forest.predict_proba(T), axis=1)
out = pd.DataFrame({"traveller": T.index, "ranking": [" ".join(forest.classes_[row]) for row in order]})
os.makedirs("submission", exist_ok=True)
out.to_csv("submission/submission.csv", index=False)
print(f"validation map_at_k: {np.mean(1 / (1 + (p > own[:, None]).sum(axis=1))):.5f}")
