import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small data: threads only get in each other's way

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import RobustScaler


def build(frame):
    out = frame.drop(columns=["id", "category"], errors="ignore").copy()
    for c in ["vedge_mean", "vedge_sd", "hedge_mean", "hedge_sd", "intensity_mean", "value_mean"]:
        out[c] = np.log1p(out[c].clip(lower=0))
    total = frame["rawred_mean"] + frame["rawblue_mean"] + frame["rawgreen_mean"] + 1.0
    out["share_red"] = frame["rawred_mean"] / total
    out["share_green"] = frame["rawgreen_mean"] / total
    out["hue_sin"] = np.sin(frame["hue_mean"])
    out["hue_cos"] = np.cos(frame["hue_mean"])
    return out


def search():
    pipe = Pipeline([("scale", RobustScaler()), ("logit", LogisticRegression(max_iter=400))])
    return GridSearchCV(pipe, {"logit__C": [1.0, 8.0]}, scoring="neg_log_loss", cv=2, n_jobs=1)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, y = build(train), train["category"]
    losses = []
    for k, (a, b) in enumerate(StratifiedKFold(3, shuffle=True, random_state=2).split(X, y)):
        model = search().fit(X.iloc[a], y.iloc[a])
        losses.append(log_loss(y.iloc[b], model.predict_proba(X.iloc[b]), labels=model.classes_))
        print(f"fold {k}: {losses[-1]:.4f} with {model.best_params_}")
    final = search().fit(X, y)
    out = pd.DataFrame(final.predict_proba(build(test)), columns=final.classes_)
    out.insert(0, "id", test["id"].values)
    os.makedirs("submission", exist_ok=True)
    out.to_csv("submission/submission.csv", index=False)
    print(f"validation log_loss: {np.mean(losses):.6f}")


if __name__ == "__main__":
    main()
