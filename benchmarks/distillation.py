"""The pool of teachers beside the networks distilled from it: what distillation costs, and what it buys.

python benchmarks/distillation.py FOLDER --output results/distillation.csv

FOLDER holds one CSV (gzipped) a table with the column `target`. One default fit for each table and split
(`train_test_split(test_size=.25, random_state=s, stratify=y)`, at most 4,000 rows) gives both: the networks, and the
pool that their targets came from. Both are certified on the same held-out rows (Clopper-Pearson, δ = .05) and tested on
the same test rows. Sizes are those of the model file and of the pickled pool; times are CPU time for the test rows.
"""

import argparse
import csv
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from abnet.bounds import clopper_pearson_bound
from abnet.model.performance_measures import log_loss
from tables import write
from teacher_pool import fit_with_pool

MEASURES = ("test_error", "log_loss", "certificate", "kilobytes", "microseconds")
COLUMNS = ("table", "classes", "rows", "split", "model", *MEASURES)
MOST_ROWS = 4_000


def compared(frame: pd.DataFrame, split: int) -> list[dict[str, Any]]:
    """A record for the networks and one for the pool; none if there were no teachers."""
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    X = frame.drop(columns="target")
    y = frame["target"].to_numpy(str)
    learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
    learn = learn.reset_index(drop=True)
    fitted = fit_with_pool(learn, known, split)
    if fitted.pool is None:
        return []
    classes = np.asarray(fitted.classifier.classes_, str)
    held_out = fitted.classifier.bound_rows_
    bound_rows = (learn.iloc[held_out], known[held_out])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.abnet"
        fitted.classifier.save(path)
        sizes = {"networks": path.stat().st_size, "teachers": len(pickle.dumps(fitted.pool))}
    predictors = {"networks": fitted.classifier.predict_proba, "teachers": fitted.pool_probabilities}
    about = {"classes": len(classes), "rows": len(y), "split": split}
    return [
        {**about, "model": name, "kilobytes": sizes[name] / 1000, **judged(predict, classes, bound_rows, (test, truth))}
        for name, predict in predictors.items()
    ]


def judged(
    predict: Callable[[Any], NDArray[np.float64]], classes: NDArray[Any], bound_rows: Any, test_rows: Any
) -> dict[str, float]:
    """Certificate, test error, log loss, and time for a row."""
    X, y = bound_rows
    errors = int(np.sum(classes[predict(X).argmax(axis=1)] != y))
    test, truth = test_rows
    start = time.process_time()
    probabilities = predict(test)
    seconds = time.process_time() - start
    return {
        "certificate": clopper_pearson_bound(errors, len(y), 0.05),
        "test_error": float(np.mean(classes[probabilities.argmax(axis=1)] != truth)),
        "log_loss": log_loss(probabilities, classes, truth),
        "microseconds": 1e6 * seconds / len(truth),
    }


def run(folder: Path, output: Path, names: list[str], n_splits: int) -> None:
    """Fit what is missing in the output, and print means and single tables."""
    done: list[dict[str, Any]] = []
    if output.exists():
        done = list(csv.DictReader(output.open()))
    for split in range(n_splits):
        for name in names:
            if any(row["table"] == name and int(row["split"]) == split for row in done):
                continue
            rows = [{"table": name, **row} for row in compared(pd.read_csv(folder / f"{name}.csv.gz"), split)]
            done += rows
            write(output, done, COLUMNS)
            print(name, split, {row["model"]: round(row["test_error"], 4) for row in rows}, flush=True)
    frame = pd.DataFrame(done).astype(dict.fromkeys(MEASURES, float) | {"classes": int})
    frame["several"] = frame["classes"] > 2
    print(frame.groupby(["table", "model"])[list(MEASURES)].mean().round(4).to_string())
    print(frame.groupby(["several", "model"])[list(MEASURES)].mean().round(4).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=Path("results/distillation.csv"))
    parser.add_argument("--tables", help="names, separated by commas; all in the folder by default")
    parser.add_argument("--splits", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = sorted(path.name.removesuffix(".csv.gz") for path in given.folder.glob("*.csv.gz"))
    if given.tables:
        tables = given.tables.split(",")
    run(given.folder, given.output, tables, given.splits)
