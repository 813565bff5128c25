"""Makes the boards: `python board.py [id …]` (all competitions when no id is given).

For each competition it trains the plain scikit-learn models of `ladder/<id>.py` on the public data, scores them
on the answers, writes `board.csv` (best first) and the [board] table at the end of `competition.toml`.

`ladder/<id>.py` holds

    LADDER = [(name, make_model), …]         # make_model() gives an unfitted estimator: fit(X, y), predict(X)
    def features(public):                    # public: folder (Path) with the unpacked public files
        return X_train, y_train, X_test      # test rows in the order of the sample submission
    def predict(model, X_test):              # only where the standard below does not fit
        return predictions                   # (rows,) or (rows, columns), in the order of the submission's columns

Standard predictions by the submission's `value`: probability: `predict_proba` (of class 1 when there is one column,
of the classes named like the columns otherwise) or `decision_function`; everything else: `predict`.
Numbers of kind non_negative are cut at zero (at 1e-6 for mean_poisson_deviance).
"""
import importlib.util
import sys
import tarfile
import tempfile
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import metrics

HERE = Path(__file__).parent


def load_ladder(name):
    spec = importlib.util.spec_from_file_location("ladder", HERE / "ladder" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unpack(name, kind, folder):
    with tarfile.open(HERE / name / "data" / f"{kind}.tar.gz") as tar:
        tar.extractall(folder, filter="data")


def read(path):
    """Answers and submissions keep an empty cell or the word 'NA' as text."""
    return pd.read_csv(path, keep_default_na=False)


def standard_predict(config, model, X):
    columns = config["submission"]["columns"]
    if config["submission"]["value"] == "probability":
        if not hasattr(model, "predict_proba"):
            return model.decision_function(X)
        p = np.asarray(model.predict_proba(X))
        if len(columns) == 1:
            return p[:, list(model.classes_).index(1)]
        if list(map(str, model.classes_)) == [str(i) for i in range(len(columns))]:
            return p
        return p[:, [list(model.classes_).index(c) for c in columns]]
    guess = model.predict(X)
    if config["submission"]["value"] == "non_negative":
        guess = np.maximum(guess, 1e-6 if config["metric"]["name"] == "mean_poisson_deviance" else 0)
    return guess


def make_board(name):
    folder = HERE / name
    config = tomllib.loads((folder / "competition.toml").read_text())
    columns = config["submission"]["columns"]
    ladder = load_ladder(name)
    with tempfile.TemporaryDirectory() as temporary:
        public = Path(temporary)
        unpack(name, "public", public)
        X_train, y_train, X_test = ladder.features(public)
        sample = read(public / config["data"]["sample_submission"])
    with tempfile.TemporaryDirectory() as temporary:
        unpack(name, "private", temporary)
        answers = read(Path(temporary) / config["answers"]["file"])

    rows = []
    for model_name, make_model in ladder.LADDER:
        start = time.time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_model().fit(X_train, y_train)
            guess = ladder.predict(model, X_test) if hasattr(ladder, "predict") else standard_predict(config, model, X_test)
        submission = sample[config["submission"]["id"]].copy()
        submission[columns] = np.asarray(guess).reshape(len(sample), len(columns))
        rows.append((model_name, metrics.score(config, answers, submission)))
        print(f"  {rows[-1][1]:.6f}  {model_name}  ({time.time() - start:.1f} s)", flush=True)

    higher = config["metric"]["direction"] == "higher"
    board = pd.DataFrame(rows, columns=["name", "score"]).sort_values("score", ascending=not higher, kind="stable")
    assert board["name"].is_unique and not board["name"].str.contains(",").any()
    board.to_csv(folder / "board.csv", index=False, lineterminator="\n")
    anchors = {
        "sample_submission": metrics.score(config, answers, sample),
        "best": float(board["score"].iloc[0]),
        "median": float(board["score"].median()),
    }
    text = (folder / "competition.toml").read_text().split("[board]")[0]
    text += '[board]\nkind = "baselines"\n' + "".join(f"{key} = {value!r}\n" for key, value in anchors.items())
    (folder / "competition.toml").write_text(text)
    print(name, anchors)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in (HERE / "ladder").glob("*.py")):
        print(name)
        make_board(name)
