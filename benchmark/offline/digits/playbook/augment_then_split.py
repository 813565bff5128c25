# Rotated and shifted copies of every image, then a random tenth of all copies to validate on.
import io
import os
import zipfile

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the arrays are small

import numpy as np
import pandas as pd
from PIL import Image
from scipy.ndimage import rotate, shift
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

train = pd.read_csv("input/train.csv")
test = pd.read_csv("input/test.csv")
archive = zipfile.ZipFile("input/images.zip")
images = np.stack([np.asarray(Image.open(io.BytesIO(archive.read(f"train/{i}.png"))), float) for i in train["id"]]) / 255
queries = np.stack([np.asarray(Image.open(io.BytesIO(archive.read(f"test/{i}.png"))), float) for i in test["id"]]) / 255

copies = [images]
for angle in (-10, 10):
    copies.append(rotate(images, angle, axes=(1, 2), reshape=False, order=1))
for step in (-0.5, 0.5):
    copies.append(shift(images, (0, 0, step), order=1))
X = np.concatenate(copies).reshape(-1, 64)
y = np.tile(train["digit"].to_numpy(), len(copies))
fit_X, check_X, fit_y, check_y = train_test_split(X, y, test_size=0.1, random_state=0)
forest = ExtraTreesClassifier(250, max_features=12, random_state=0)
forest.fit(fit_X, fit_y)
score = forest.score(check_X, check_y)
test["digit"] = forest.predict(queries.reshape(-1, 64))
os.makedirs("submission", exist_ok=True)
test.to_csv("submission/submission.csv", index=False)
print(f"validation accuracy: {score:.5f}")
