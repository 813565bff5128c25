"""Conditional logit, the classic of choice modelling: utility of a mode from its waiting, cost and time; fitted by maximum likelihood."""
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.model_selection import KFold

MODES = ["air", "train", "bus", "car"]
PENALTY = 0.002


def cube(rows):
    """(travellers, modes, features), and the travellers' names."""
    rows = rows.assign(place=rows["mode"].map(MODES.index)).sort_values(["traveller", "place"])
    income, party = rows["hinc"] / 50, rows["psize"] - 1
    columns = [rows["ttme"] / 30, rows["invc"] / 50, rows["invt"] / 500, rows["gc"] / 100]
    for mode in MODES[:3]:
        here = rows["mode"] == mode
        columns += [here * 1.0, here * income, here * party]
    return np.column_stack(columns).reshape(-1, 4, len(columns)), rows["traveller"].to_numpy()[::4]


def chosen(rows):
    rows = rows.assign(place=rows["mode"].map(MODES.index)).sort_values(["traveller", "place"])
    return rows["choice"].to_numpy().reshape(-1, 4).argmax(axis=1)


def fit(X, y):
    def loss(beta):
        utility = X @ beta
        utility -= utility.max(axis=1, keepdims=True)
        p = np.exp(utility) / np.exp(utility).sum(axis=1, keepdims=True)
        error = p.copy()
        error[np.arange(len(y)), y] -= 1
        value = -np.log(p[np.arange(len(y)), y] + 1e-12).mean() + PENALTY * beta @ beta
        return value, np.einsum("nm,nmf->f", error, X) / len(y) + 2 * PENALTY * beta

    return minimize(loss, np.zeros(X.shape[2]), jac=True, method="L-BFGS-B").x


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    X, _ = cube(train)
    y = chosen(train)
    reciprocal = []
    for inner, outer in KFold(7, shuffle=True, random_state=1).split(X):
        utility = X[outer] @ fit(X[inner], y[inner])
        mine = utility[np.arange(len(outer)), y[outer]]
        reciprocal += list(1 / (1 + (utility > mine[:, None]).sum(axis=1)))
    beta = fit(X, y)
    print("weights:", beta.round(2))
    T, names = cube(test)
    ranking = [" ".join(MODES[m] for m in np.argsort(-row)) for row in T @ beta]
    os.makedirs("submission", exist_ok=True)
    pd.DataFrame({"traveller": names, "ranking": ranking}).to_csv("submission/submission.csv", index=False)
    print(f"validation map_at_k: {np.mean(reciprocal):.5f}")


if __name__ == "__main__":
    main()
