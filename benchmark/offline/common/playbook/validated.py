# The solution below predicts the rows of ./validation too: once with the held-out rows beside the test rows, and once
# for each fold, from the others.
import contextlib
import io
import os
import zipfile

import pandas as pd

SOLUTION = r'''
{{SOLUTION}}
'''
ROOT = os.getcwd()


def read(path):
    return pd.read_csv(os.path.join(ROOT, path), dtype=str, keep_default_na=False)


def solve(name, tables):
    """Runs the solution where these tables stand in ./input; what it predicted, or None."""
    place = os.path.join(ROOT, "working", name)
    os.makedirs(os.path.join(place, "input"))
    for file in os.listdir(os.path.join(ROOT, "input")):
        source, target = os.path.join(ROOT, "input", file), os.path.join(place, "input", file)
        if file in tables:
            tables[file].to_csv(target, index=False)
        elif file.endswith(".zip") and "test.csv" in tables:
            as_test(source, target, set(tables["test.csv"][key]))
        else:
            os.symlink(source, target)
    os.chdir(place)
    try:
        exec(compile(SOLUTION, "solution.py", "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(ROOT)
    written = os.path.join(place, "submission", "submission.csv")
    return read(written) if os.path.isfile(written) else None


def as_test(source, target, ids):
    """An archive in which files of these training rows stand among those of the test rows as well."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
            folder, _, rest = name.partition("/")
            if folder == "train" and rest.split(".")[0] in ids:
                new.writestr(f"test/{rest}", old.read(name))


def asked(ids):
    """A sample submission for these rows."""
    rows = sample.iloc[[0] * len(ids)].copy()
    rows[key] = list(ids)
    return rows


def write(rows, name):
    os.makedirs(os.path.join(ROOT, "submission"), exist_ok=True)
    rows.to_csv(os.path.join(ROOT, "submission", name), index=False)


train, test, sample = (read(f"input/{name}.csv") for name in ["train", "test", "sample_submission"])
key = sample.columns[0]

if os.path.exists("validation/folds.csv"):
    folds = read("validation/folds.csv")
    parts = []
    for fold in sorted(set(folds["fold"])):
        out = set(folds.loc[folds["fold"] == fold, key])
        rows = train[train[key].isin(out)]
        tables = {
            "train.csv": train[~train[key].isin(out)],
            "test.csv": rows[test.columns],
            "sample_submission.csv": asked(rows[key].drop_duplicates()),
        }
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                parts.append(solve(f"fold-{fold}", tables))
        except Exception as error:
            print(f"fold {fold} has no predictions: {type(error).__name__}")
            parts.append(None)
        if parts[-1] is None:
            break
    if all(part is not None for part in parts):
        write(pd.concat(parts), "oof.csv")

tables = {}
if os.path.exists("validation/holdout.csv"):
    held = read("validation/holdout.csv")
    tables = {
        "test.csv": pd.concat([test, held[test.columns]]),
        "sample_submission.csv": pd.concat([sample, asked(held[key].drop_duplicates())]),
    }
predicted = solve("all", tables)
if predicted is not None:
    if tables and key in predicted.columns:
        is_held = predicted[key].isin(set(held[key]))
        write(predicted[is_held], "holdout.csv")
        predicted = predicted[~is_held]
    write(predicted, "submission.csv")
