import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small data: threads only get in each other's way

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from sklearn.svm import SVC

WEIGHTS = [(0.4, 0.4, 0.2), (0.5, 0.3, 0.2), (0.3, 0.5, 0.2), (0.3, 0.3, 0.4), (0.5, 0.5, 0.0)]


def columns(frame):
    X = frame.drop(columns=["id", "category"], errors="ignore").copy()
    light = X["rawred_mean"] + X["rawgreen_mean"] + X["rawblue_mean"] + 1
    X["r"], X["g"] = X["rawred_mean"] / light, X["rawgreen_mean"] / light
    X["edge"] = np.log1p(X["vedge_mean"]) - np.log1p(X["hedge_mean"].clip(lower=0))
    X["row_times_blue"] = X["region_centroid_row"] * X["exblue_mean"]
    return X


def members():
    return [
        ExtraTreesClassifier(300, max_features=0.5, n_jobs=1, random_state=7),
        HistGradientBoostingClassifier(
            learning_rate=0.1, max_iter=90, max_leaf_nodes=7, min_samples_leaf=6, max_features=0.4,
            early_stopping=False, random_state=7,
        ),
        make_pipeline(
            QuantileTransformer(n_quantiles=150, output_distribution="normal", random_state=7),
            SVC(C=12, gamma=0.03, probability=True, random_state=7),
        ),
    ]


def blend(parts, weights):
    mix = np.exp(sum(w * np.log(np.clip(p, 2e-4, 1)) for p, w in zip(parts, weights)))
    return mix / mix.sum(axis=1, keepdims=True)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, y, Z = columns(train), train["category"], columns(test)
    names = sorted(y.unique())
    oof = [np.zeros((len(X), len(names))) for _ in members()]
    for a, b in StratifiedKFold(3, shuffle=True, random_state=7).split(X, y):
        for store, model in zip(oof, members()):
            store[b] = model.fit(X.iloc[a], y.iloc[a]).predict_proba(X.iloc[b])
    for store, model in zip(oof, members()):
        print(type(model).__name__, round(log_loss(y, store), 4))
    best = min(WEIGHTS, key=lambda w: log_loss(y, blend(oof, w)))
    print("weights", best)

    final = blend([m.fit(X, y).predict_proba(Z) for m in members()], best)
    out = pd.DataFrame(final, columns=names)
    out.insert(0, "id", test["id"])
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation log_loss: {log_loss(y, blend(oof, best)):.6f}")


if __name__ == "__main__":
    main()
