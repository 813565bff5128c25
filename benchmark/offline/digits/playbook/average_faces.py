# Average image of each digit; a test image takes the digit whose average it correlates with best.
import io
import os
import zipfile

import numpy as np
import pandas as pd
from PIL import Image

train = pd.read_csv("input/train.csv", dtype={"id": str})
test = pd.read_csv("input/test.csv", dtype={"id": str})
bag = zipfile.ZipFile("input/images.zip")


def load(path):
    image = np.sqrt(np.asarray(Image.open(io.BytesIO(bag.read(path))), dtype=float))
    return (image - image.mean()) / image.std()


A = np.stack([load(f"train/{i}.png") for i in train.id])
B = np.stack([load(f"test/{i}.png") for i in test.id])
y = train.digit.values


def classify(known, labels, unknown):
    averages = np.stack([known[labels == d].mean(axis=0) for d in range(10)])
    averages /= np.linalg.norm(averages, axis=(1, 2), keepdims=True)
    return np.einsum("nij,dij->nd", unknown, averages).argmax(axis=1)


fold = np.arange(len(y)) % 5
right = np.concatenate([classify(A[fold != k], y[fold != k], A[fold == k]) == y[fold == k] for k in range(5)])
os.makedirs("submission", exist_ok=True)
test.assign(digit=classify(A, y, B)).to_csv("submission/submission.csv", index=False)
print(f"validation accuracy: {right.mean():.5f}")
