"""A panel on distorted copies: support vectors on pixels, a network, and shift-tolerant neighbours vote with probabilities."""
import io
import os
import zipfile

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from PIL import Image
from scipy.ndimage import affine_transform, gaussian_filter
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC


def pictures(part, ids):
    with zipfile.ZipFile("input/images.zip") as z:
        return np.stack([np.asarray(Image.open(io.BytesIO(z.read(f"{part}/{i}.png"))), float) for i in ids]) / 255


def warp(stack, rng):
    out = []
    for image in stack:
        a = rng.normal(0, 0.1, 4).reshape(2, 2) + np.eye(2)
        out.append(affine_transform(image, a, [3.5, 3.5] - a @ [3.5, 3.5] + rng.normal(0, 0.4, 2), order=1))
    return np.stack(out)


def widen(stack):
    """Pixels and their edges, smoothed."""
    smooth = gaussian_filter(stack, (0, 0.4, 0.4))
    down, right = np.diff(smooth, axis=1), np.diff(smooth, axis=2)
    return np.concatenate([smooth.reshape(len(stack), -1), down.reshape(len(stack), -1), right.reshape(len(stack), -1)], axis=1)


def panel(stack, labels, queries):
    rng = np.random.default_rng(11)
    more = np.concatenate([stack] + [warp(stack, rng) for _ in range(5)])
    many = np.tile(labels, 6)
    X, Q = widen(more), widen(queries)
    votes = np.zeros((len(queries), 10))
    machine = SVC(C=10, gamma=0.03, decision_function_shape="ovr").fit(X, many)
    margins = machine.decision_function(Q)
    votes += 3 * np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)
    votes += MLPClassifier(80, alpha=0.1, learning_rate_init=0.003, tol=0.003, n_iter_no_change=4, random_state=4).fit(X, many).predict_proba(Q)
    votes += KNeighborsClassifier(5, weights="distance").fit(X, many).predict_proba(Q)
    return votes.argmax(axis=1)


def main():
    train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
    stack, labels = pictures("train", train["id"]), train["digit"].to_numpy()
    inner, outer = train_test_split(np.arange(len(labels)), test_size=0.3, stratify=labels, random_state=8)
    score = np.mean(panel(stack[inner], labels[inner], stack[outer]) == labels[outer])
    print("hold-out of", len(outer), "images is done")
    test["digit"] = panel(stack, labels, pictures("test", test["id"]))
    os.makedirs("submission", exist_ok=True)
    test.to_csv("submission/submission.csv", index=False)
    print(f"validation accuracy: {score:.5f}")


if __name__ == "__main__":
    main()
