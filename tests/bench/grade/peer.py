"""Grades with pandas and scikit-learn what the benchmark grades with Podium: the same reading, the same alignment, the
same metric. `peer.py ID SUBMISSION ANSWERS` prints the score, `peer.py` the ids it knows."""

import sys


def ordered(submission, answers, key):
    submission, answers = submission.sort_values(key), answers.sort_values(key)
    if (submission[key].values != answers[key].values).any():
        raise ValueError("the keys differ")
    return submission, answers


def area(submission, answers, key, column):
    from sklearn.metrics import roc_auc_score

    submission, answers = ordered(submission, answers, key)
    return roc_auc_score(answers[column], submission[column])


def accuracy(submission, answers):
    from sklearn.metrics import accuracy_score

    submission, answers = ordered(submission, answers, "Id")
    return accuracy_score(answers["Cover_Type"], submission["Cover_Type"])


def log_loss(submission, answers):
    import numpy
    from sklearn.metrics import log_loss

    classes = [name for name in answers.columns if name != "id"]
    if not numpy.isclose(submission[classes].sum(axis=1), 1, atol=1e-6).all():
        raise ValueError("a row does not sum to one")
    submission, answers = ordered(submission, answers, "id")
    return log_loss(answers[classes].values, submission[classes].values)


def spoken(submission, answers):
    from sklearn.metrics import accuracy_score

    submission, answers = ordered(submission, answers, "id")
    return accuracy_score(answers["after"].astype(str), submission["after"].astype(str))


def purchases(submission, answers):
    submission = submission[submission["customer_id"].isin(answers["customer_id"])]
    submission, answers = submission.sort_values("customer_id"), answers.sort_values("customer_id")
    total = 0.0
    for guess, truth in zip(submission["prediction"].astype(str), answers["prediction"].astype(str)):
        guess, truth = guess.split(" ")[:12], set(truth.split(" "))
        hits = score = 0.0
        for position, item in enumerate(guess):
            if item in truth and item not in guess[:position]:
                hits += 1
                score += hits / (position + 1)
        total += score / min(len(truth), 12)
    return total / len(answers)


def pressures(submission, answers):
    from sklearn.metrics import mean_absolute_error

    submission, answers = ordered(submission, answers, "id")
    answers = answers[answers["u_out"] == 0]
    submission = submission[submission["id"].isin(answers["id"])]
    return mean_absolute_error(answers["pressure"], submission["pressure"])


def fares(submission, answers):
    from sklearn.metrics import root_mean_squared_error

    submission, answers = submission.sort_values("key"), answers.sort_values("key")
    return root_mean_squared_error(answers["fare_amount"], submission["fare_amount"])


def couplings(submission, answers):
    import numpy

    if set(submission["id"]) != set(answers["id"]):
        raise ValueError("the keys differ")
    both = answers.merge(submission, on="id", suffixes=("_true", "_guess"))
    errors = (both["scalar_coupling_constant_true"] - both["scalar_coupling_constant_guess"]).abs()
    return numpy.log(errors.groupby(both["type"]).mean()).mean()


def comments(submission, answers):
    from sklearn.metrics import roc_auc_score

    submission, answers = ordered(submission, answers, "id")
    toxic, guess = answers["toxicity"].values >= 0.5, (submission["prediction"].values >= 0.5).astype(int)
    means = []
    kinds = [
        lambda group: group,
        lambda group: group != toxic,
        lambda group: group == toxic,
    ]
    groups = [(answers[name] >= 0.5).values for name in answers.columns[3:]]
    for kind in kinds:
        scores = [roc_auc_score(toxic[kind(group)], guess[kind(group)]) for group in groups]
        means.append((sum(score**-5 for score in scores) / len(scores)) ** (-1 / 5))
    return 0.25 * roc_auc_score(toxic, guess) + 0.25 * sum(means)


def masks(submission, answers):
    import numpy

    def mask(text):
        numbers = [int(word) for word in text.split()]
        flat = numpy.zeros(101 * 101, dtype=bool)
        for start, length in zip(numbers[::2], numbers[1::2]):
            flat[start - 1 : start - 1 + length] = True
        return flat

    submission, answers = ordered(submission.fillna(""), answers.fillna(""), "id")
    scores, size = [], 101 * 101
    for guess, truth in zip(submission["rle_mask"], answers["rle_mask"]):
        guess, truth = mask(guess), mask(truth)
        if not truth.any():
            scores.append(float(not guess.any()))
            continue
        common = (guess & truth).sum()
        share = common / (guess.sum() + truth.sum() - common) if guess.any() else truth.sum() / size
        scores.append(numpy.mean(share > numpy.arange(0.5, 1, 0.05)))
    return numpy.mean(scores)


def pixels(submission, answers):
    from sklearn.metrics import root_mean_squared_error

    both = answers.merge(submission, on="id", suffixes=("_true", "_guess"))
    return root_mean_squared_error(both["value_true"], both["value_guess"])


GRADERS = {
    "tabular-playground-series-may-2022": lambda s, a: area(s, a, "id", "target"),
    "tabular-playground-series-dec-2021": accuracy,
    "dog-breed-identification": log_loss,
    "text-normalization-challenge-english-language": spoken,
    "h-and-m-personalized-fashion-recommendations": purchases,
    "ventilator-pressure-prediction": pressures,
    "new-york-city-taxi-fare-prediction": fares,
    "champs-scalar-coupling": couplings,
    "jigsaw-unintended-bias-in-toxicity-classification": comments,
    "tgs-salt-identification-challenge": masks,
    "denoising-dirty-documents": pixels,
}

if len(sys.argv) == 1:
    print("\n".join(GRADERS))
else:
    import pandas

    competition, *paths = sys.argv[1:]
    print(float(GRADERS[competition](*(pandas.read_csv(path, float_precision="round_trip") for path in paths))))
