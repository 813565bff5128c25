"""Makes fixtures/vectors.json: small submissions and what scikit-learn (or the definition) makes of them.

Run with numpy and scikit-learn: `python vectors.py`. Ids are shuffled on purpose.
"""
import json
import random
import warnings
from pathlib import Path

import numpy as np
from sklearn import metrics as sk

warnings.simplefilter("ignore")
rng = np.random.default_rng(20260)
cases = []


def csv(header, rows):
    return "\n".join([",".join(header)] + [",".join(map(str, row)) for row in rows]) + "\n"


def add(metric, value, columns, truth_rows, guess_rows, score, truth_columns=None, options=None):
    ids = [f"r{i}" for i in range(len(truth_rows))]
    answers = csv(["id", *(truth_columns or columns)], [[i, *row] for i, row in zip(ids, truth_rows)])
    pairs = list(zip(ids, guess_rows))
    random.Random(len(cases)).shuffle(pairs)
    submission = csv(["id", *columns], [[i, *row] for i, row in pairs])
    score = "NaN" if np.isnan(score) else float(score)
    cases.append(dict(metric=metric, value=value, columns=columns, truth_columns=truth_columns,
                      options=options or {}, answers=answers, submission=submission, score=score))


def column(values):
    return [[v] for v in values]


for n in (2, 7, 40, 130):
    truth = rng.integers(0, 2, n)
    truth[:2] = [0, 1]
    for p in (rng.random(n).round(1), rng.random(n), np.full(n, 0.5)):
        p = p.tolist()
        add("roc_auc", "probability", ["p"], column(truth), column(p), sk.roc_auc_score(truth, p))
        add("average_precision", "probability", ["p"], column(truth), column(p), sk.average_precision_score(truth, p))
        hit = np.clip(np.where(truth == 1, p, 1 - np.array(p)), 1e-15, 1 - 1e-15)
        add("log_loss", "probability", ["p"], column(truth), column(p),
            -np.mean(np.log(hit)))
    names = ["red", "green", "blue", "3"]
    truth, guess = rng.integers(0, 3, n), rng.integers(0, 4, n)
    labels = lambda codes: column(names[c] for c in codes)
    add("accuracy", "label", ["colour"], labels(truth), labels(guess), sk.accuracy_score(truth, guess))
    add("macro_f1", "label", ["colour"], labels(truth), labels(guess), sk.f1_score(truth, guess, average="macro"))
    floats = column(f"{g}.0" for g in guess)
    add("accuracy", "label", ["digit"], column(truth), floats, sk.accuracy_score(truth, guess))
    rated, rating = rng.choice([1, 2, 5], n), rng.choice([1, 2, 3, 5], n)
    add("quadratic_weighted_kappa", "label", ["rating"], column(rated), column(rating),
        sk.cohen_kappa_score(rated, rating, weights="quadratic"))
    truth, guess = rng.gamma(1, 5, n), rng.gamma(1, 5, n)
    truth[0] = 0.0
    for metric, value, function in [
        ("rmse", "number", sk.root_mean_squared_error), ("mae", "number", sk.mean_absolute_error),
        ("rmsle", "non_negative", sk.root_mean_squared_log_error),
        ("mape", "number", sk.mean_absolute_percentage_error),
        ("mean_poisson_deviance", "non_negative", sk.mean_poisson_deviance),
    ]:
        add(metric, value, ["y"], column(truth), column(guess), function(truth, guess))
    classes = ["a", "b", "c"]
    truth = rng.integers(0, 3, n)
    raw = rng.random((n, 3))
    raw[0] = [1.0, 0.0, 0.0]
    p = np.clip(raw / raw.sum(axis=1, keepdims=True), 1e-15, 1 - 1e-15)
    loss = -np.log(p[np.arange(n), truth]).mean()
    add("log_loss", "probability", classes, np.eye(3, dtype=int)[truth].tolist(), raw.tolist(), loss)
    add("log_loss", "probability", classes, column(classes[t] for t in truth), raw.tolist(), loss, ["class"])
    normal = raw / raw.sum(axis=1, keepdims=True)
    add("log_loss", "probability", classes, column(classes[t] for t in truth), raw.tolist(),
        sk.log_loss(truth, normal, labels=[0, 1, 2]), ["class"], {"eps": float(np.finfo(float).eps)})
    hot = rng.integers(0, 2, (n, 3))
    hot[:2] = [[0, 1, 0], [1, 0, 1]]
    add("mean_column_auc", "probability", classes, hot.tolist(), raw.tolist(), sk.roc_auc_score(hot, raw, average="macro"))
    sets = lambda bits: column(" ".join(c for c, bit in zip(classes, row) if bit) for row in bits)
    other = rng.integers(0, 2, (n, 3))
    add("micro_f1", "labels", ["tags"], sets(hot), sets(other), sk.f1_score(hot, other, average="micro"))

one = [[1], [1], [1]]
add("roc_auc", "probability", ["p"], one, [[0.1], [0.2], [0.3]], float("nan"))
add("average_precision", "probability", ["p"], [[0], [0], [0]], [[0.1], [0.2], [0.3]], 0.0)
add("mean_column_auc", "probability", ["a", "b"], [[1, 0], [1, 1]], [[0.1, 0.1], [0.2, 0.2]], float("nan"))
add("quadratic_weighted_kappa", "label", ["r"], one, one, float("nan"))
add("exact_match", "text", ["t"], [["a b"], ["NA"], ["x"]], [["a b"], ["NA"], ["X"]], 2 / 3)
add("mean_levenshtein", "text", ["t"], [["k i t t e n"], ["a"], ["b c"]], [["s i t t i n g"], [""], ["b  c"]], 4 / 3)
add("map_at_k", "ranking", ["r"], [["a"], ["b c"], ["d"]], [["x a y"], ["b b c"], ["x y z w d"]],
    (1 / 2 + (1 + 2 / 3) / 2 + 0) / 3, None, {"k": 4})
add("accuracy", "label", ["b"], [["True"], ["False"]], [["1"], ["false"]], 1.0)

(Path(__file__).parent / "fixtures" / "vectors.json").write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
print(len(cases))
