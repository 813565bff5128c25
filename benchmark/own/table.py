# Reads an own competition in general terms: what is predicted, by which metric, and features of any table. It stands in
# front of each script of the ladder and of the stand-in model, so that a script is whole by itself.
import os
import re

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread: tables here are small

import numpy as np
import pandas as pd
from sklearn import metrics as scores
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

SEED = 1
train, test, sample = (pd.read_csv(f"input/{name}.csv") for name in ["train", "test", "sample_submission"])
with open("input/description.md", encoding="utf-8") as file:
    told = file.read()
METRIC = re.search(r"## Metric\s+`(\w+)`", told).group(1)
by_group = re.search(r"They are of other `(.+?)` than the training rows", told)
by_time = re.search(r"They are later in `(.+?)` than all training rows", told)
key, predicted = sample.columns[0], list(sample.columns[1:])
targets = predicted if set(predicted) <= set(train.columns) else [c for c in train.columns if c not in test.columns]
binary = METRIC in ("roc_auc", "average_precision") or (METRIC == "log_loss" and len(predicted) == 1)
labels = binary or METRIC in ("log_loss", "accuracy", "macro_f1", "exact_match", "quadratic_weighted_kappa")
logs = METRIC in ("rmsle", "mean_poisson_deviance")
y = train[targets[0]]


def number(values):
    return np.log1p(values.astype(float)) if logs else values.astype(float)


def is_file(value):
    return isinstance(value, str) and find(value) is not None


places = None


def find(name):
    """The file of ./input that a cell names, by its path or by its name with or without the ending."""
    global places
    if places is None:
        places = {}
        for folder, _, files in os.walk("input"):
            for file in sorted(files):
                path = os.path.join(folder, file)
                for known in (os.path.relpath(path, "input"), file, os.path.splitext(file)[0]):
                    if folder != "input":
                        places.setdefault(known, path)
    return places.get(name)


def image(name):
    from PIL import Image

    try:
        with Image.open(find(name)) as picture:
            return np.asarray(picture.convert("L").resize((12, 12)), dtype=float).ravel() / 255
    except Exception:
        return np.full(144, np.nan)


def text(name):
    with open(find(name), encoding="utf-8", errors="replace") as file:
        return file.read(20000)


def dates(column):
    """Parts of a column of dates, or nothing."""
    words = column.dropna().astype(str)
    if not len(words) or not words.head(50).str.match(r"\d+[-/.]\d+([-/.]\d+)?([T ].*)?$").all():
        return None
    day_first = bool(words.str.match(r"\d\d\.\d\d\.\d{4}").any())
    when = pd.to_datetime(column, errors="coerce", dayfirst=day_first, utc=True, format="mixed")
    if when.isna().sum() > column.isna().sum() + len(column) * 0.05:
        return None
    start = pd.Timestamp("1970-01-01", tz="UTC")
    return pd.DataFrame({
        "day": (when - start) / pd.Timedelta(days=1),
        "month": when.dt.month,
        "of_year": when.dt.dayofyear,
        "weekday": when.dt.weekday,
        "hour": when.dt.hour,
    })


def words(texts, count=30):
    """Texts of the training rows and of the test rows as a few numbers each."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    known = texts.iloc[: len(train)]
    try:
        vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=4000, sublinear_tf=True).fit(known)
        matrix = vectors.transform(texts)
        count = min(count, matrix.shape[1] - 1, len(known) - 1)
        parts = TruncatedSVD(count, random_state=SEED).fit(matrix[: len(train)]).transform(matrix)
    except ValueError:
        return pd.DataFrame({"length": texts.str.len()})
    return pd.DataFrame(parts).assign(length=texts.str.len().to_numpy(), blanks=texts.str.count(" ").to_numpy())


def features():
    """Numbers of every column, for the training rows and the test rows; missing cells stay missing."""
    rows = pd.concat([train[test.columns], test], ignore_index=True)
    parts = []
    for name in test.columns:
        column = rows[name]
        if name == key and not is_file(column.iloc[0]):
            continue
        if by_group and name == by_group.group(1) and column.dtype == object:
            continue
        if column.isna().all():
            continue
        if column.dtype == bool:
            parts.append(column.astype(float).to_frame())
        elif pd.api.types.is_numeric_dtype(column):
            parts.append(column.astype(float).replace([np.inf, -np.inf], np.nan).to_frame())
        elif column.dropna().astype(str).head(20).map(is_file).all():
            if column.dropna().astype(str).head(1).str.contains(r"\.(?:txt|md|html?|xml|json)$").all():
                parts.append(words(column.fillna("").astype(str).map(lambda cell: text(cell) if find(cell) else "")))
            else:
                parts.append(pd.DataFrame(np.stack([image(str(cell)) for cell in column])))
        elif (parted := dates(column)) is not None:
            parts.append(parted)
        elif column.iloc[: len(train)].nunique() <= 50:
            known = sorted(column.iloc[: len(train)].dropna().astype(str).unique())
            parts.append(pd.get_dummies(pd.Categorical(column.astype(str).where(column.notna()), known)).astype(float))
        else:
            parts.append(words(column.fillna("").astype(str)))
    matrix = np.column_stack([part.to_numpy(dtype=float) for part in parts]) if parts else np.zeros((len(rows), 1))
    matrix = np.column_stack([matrix, np.zeros(len(rows))]) if np.isnan(matrix).all(axis=0).all() else matrix
    matrix = matrix[:, ~np.isnan(matrix[: len(train)]).all(axis=0)]
    return matrix[: len(train)], matrix[len(train) :]


def folds(count=4):
    """Pairs of rows to learn from and rows to judge by, parted as the test rows were."""
    if by_time:
        column = train[by_time.group(1)]
        parted = dates(column)
        order = np.argsort((column if parted is None else parted["day"]).to_numpy(dtype=float), kind="stable")
        cut = len(order) * 3 // 4
        return [(order[:cut], order[cut:])]
    rows = np.arange(len(train))
    if by_group and train[by_group.group(1)].nunique() >= count:
        return list(GroupKFold(count).split(rows, groups=train[by_group.group(1)].astype(str)))
    if labels and y.value_counts().min() >= count:
        return list(StratifiedKFold(count, shuffle=True, random_state=SEED).split(rows, y))
    return list(KFold(count, shuffle=True, random_state=SEED).split(rows))


def predict(make, X, truth, X_test):
    """What a fresh model says of other rows, in the form of the submission's columns."""
    if METRIC == "mean_column_auc":
        return np.column_stack([one(make, X, truth[name].astype(int), X_test, [1])[:, 0] for name in targets])
    truth = truth[targets[0]]
    if METRIC == "log_loss" and not binary:
        return one(make, X, truth.astype(str), X_test, predicted)
    if binary:
        return one(make, X, truth.astype(int), X_test, [1])[:, 0]
    model = make()
    if labels:
        return model.fit(X, truth).predict(X_test)
    guess = model.fit(X, number(truth)).predict(X_test)
    if logs:
        guess = np.maximum(np.expm1(np.clip(guess, None, 50)), 1e-6)
    return guess


def one(make, X, truth, X_test, wanted):
    """Probabilities of the wanted classes; of a class that these rows lack, a small one."""
    shares = np.full((len(X_test), len(wanted)), 1e-6)
    if truth.nunique() == 1:
        model, classes = None, [truth.iloc[0]]
        told = np.ones((len(X_test), 1))
    else:
        model = make().fit(X, truth)
        classes, told = list(model.classes_), model.predict_proba(X_test)
    for place, name in enumerate(wanted):
        if name in classes:
            shares[:, place] = told[:, classes.index(name)]
    return np.clip(shares, 1e-6, 1)


def score(truth, guess):
    if METRIC == "mean_column_auc":
        return np.mean([scores.roc_auc_score(truth[name], guess[:, i]) for i, name in enumerate(targets)])
    truth = truth[targets[0]]
    if METRIC == "roc_auc":
        return scores.roc_auc_score(truth, guess)
    if METRIC == "average_precision":
        return scores.average_precision_score(truth, guess)
    if METRIC == "log_loss" and binary:
        return scores.log_loss(truth, np.clip(guess, 1e-15, 1 - 1e-15), labels=[0, 1])
    if METRIC == "log_loss":
        return -np.mean(np.log([row[predicted.index(name)] / row.sum() for row, name in zip(guess, truth.astype(str))]))
    if METRIC in ("accuracy", "exact_match"):
        return scores.accuracy_score(truth, guess)
    if METRIC == "macro_f1":
        return scores.f1_score(truth, guess, average="macro")
    if METRIC == "quadratic_weighted_kappa":
        return scores.cohen_kappa_score(truth, guess, weights="quadratic")
    guess, truth = np.asarray(guess, dtype=float), truth.to_numpy(dtype=float)
    if METRIC == "mae":
        return np.mean(np.abs(guess - truth))
    if METRIC == "mape":
        return np.mean(np.abs(guess - truth) / np.maximum(np.abs(truth), np.finfo(float).eps))
    if METRIC == "mean_poisson_deviance":
        return scores.mean_poisson_deviance(truth, guess)
    if METRIC == "rmsle":
        guess, truth = np.log1p(guess), np.log1p(truth)
    return np.sqrt(np.mean((guess - truth) ** 2))


def write(guess, path="submission/submission.csv"):
    rows = sample[[key]].copy()
    rows[predicted] = np.asarray(guess).reshape(len(sample), len(predicted))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows.to_csv(path, index=False)


def solve(make):
    """Validates, predicts, writes, and prints what the harness reads."""
    X, X_test = features()
    print(f"{X.shape[0]} rows, {X.shape[1]} features")
    pairs = folds()
    guesses = [predict(make, X[fit], train.iloc[fit], X[judge]) for fit, judge in pairs]
    judged = np.concatenate([judge for _, judge in pairs])
    value = score(train.iloc[judged], np.concatenate(guesses))
    print(f"judged on {len(judged)} rows in {len(pairs)} parts")
    write(predict(make, X, train, X_test))
    print(f"validation {METRIC}: {value:.6f}")
