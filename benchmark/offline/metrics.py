"""The metrics of the offline competitions, by their definitions on the README page.

`score(config, answers, submission)` takes the parsed competition.toml and two data frames.
"""
import numpy as np
from sklearn import metrics as sk


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def log_loss(truth, p, columns):
    p = np.asarray(p, float)
    if p.shape[1] == 1:
        p = np.column_stack([1 - p[:, 0], p[:, 0]])
        hot = np.eye(2)[truth.iloc[:, 0].to_numpy(int)]
    else:
        p = p / p.sum(axis=1, keepdims=True)
        if truth.shape[1] == 1:
            hot = (truth.iloc[:, [0]].to_numpy() == np.array(columns)[None, :]).astype(float)
        else:
            hot = truth.to_numpy(float)
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return float(-(hot * np.log(p)).sum(axis=1).mean())


def micro_f1(truth, guess):
    truth, guess = [[set(str(cell).split()) for cell in cells] for cells in (truth, guess)]
    hits = sum(len(t & g) for t, g in zip(truth, guess))
    total = sum(len(t) + len(g) for t, g in zip(truth, guess))
    return 2 * hits / total if total else 0.0


def map_at_k(truth, guess, k):
    total = 0.0
    for t, g in zip(truth, guess):
        relevant, seen, hits, precision = set(str(t).split()), set(), 0, 0.0
        for rank, item in enumerate(str(g).split()[:k], 1):
            if item in relevant and item not in seen:
                hits += 1
                precision += hits / rank
            seen.add(item)
        total += precision / min(len(relevant), k)
    return total / len(truth)


def text_column(frame):
    return frame.iloc[:, 0].fillna("").astype(str).tolist()


def score(config, answers, submission):
    """Score of a submission; both frames hold the key columns, in any row order."""
    keys, columns = config["submission"]["id"], config["submission"]["columns"]
    truth_columns = config["answers"].get("columns", columns)
    truth = answers.set_index(keys)[truth_columns]
    guess = submission.set_index(keys)[columns]
    if truth.index.has_duplicates or guess.index.has_duplicates:
        raise ValueError("keys are not unique")
    if len(truth) != len(guess) or not truth.index.isin(guess.index).all():
        raise ValueError("keys differ from the answers")
    guess = guess.reindex(truth.index)

    name = config["metric"]["name"]
    if name == "log_loss":
        return log_loss(truth, guess, columns)
    if name == "mean_column_auc":
        return float(np.mean([sk.roc_auc_score(truth[c], guess[c]) for c in columns]))
    if name == "micro_f1":
        return micro_f1(text_column(truth), text_column(guess))
    if name == "map_at_k":
        return map_at_k(text_column(truth), text_column(guess), config["metric"]["k"])
    if name == "mean_levenshtein":
        pairs = zip(text_column(truth), text_column(guess))
        return float(np.mean([levenshtein(t.split(), g.split()) for t, g in pairs]))
    if name == "exact_match":
        return float(np.mean([t == g for t, g in zip(text_column(truth), text_column(guess))]))
    if name == "accuracy":
        return float(sk.accuracy_score(text_column(truth), text_column(guess)))
    if name == "macro_f1":
        return float(sk.f1_score(text_column(truth), text_column(guess), average="macro", zero_division=0))

    t, g = truth.to_numpy(float).ravel(), guess.to_numpy(float).ravel()
    if not np.isfinite(g).all():
        raise ValueError("predictions must be finite numbers")
    if name == "quadratic_weighted_kappa":
        return float(sk.cohen_kappa_score(t.astype(int), g.astype(int), weights="quadratic"))
    formulas = {
        "roc_auc": sk.roc_auc_score,
        "average_precision": sk.average_precision_score,
        "rmse": sk.root_mean_squared_error,
        "mae": sk.mean_absolute_error,
        "rmsle": lambda a, b: np.sqrt(np.mean((np.log1p(b) - np.log1p(a)) ** 2)),
        "mape": lambda a, b: np.mean(np.abs((a - b) / a)),
        "mean_poisson_deviance": sk.mean_poisson_deviance,
    }
    return float(formulas[name](t, g))


