"""Wide tables: a few useful columns among many of noise, abnet beside gradient boosting and CatBoost.

python benchmarks/wide_tables.py --columns 100 1000 5000

Made-up tables of 3,000 rows and three kinds: ten columns that add up ("linear"), seven that interact, and five with
sharp rules. Labels are noisy, so no model is perfect. Errors are those on 5,000 further rows. abnet is trained on 60%
of the rows; the other models get the same 60%. CatBoost is compared if it is installed.
"""

import argparse
import tempfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from abnet import CertifiedClassifier

N_ROWS = 3_000
N_TEST = 5_000
KINDS = ("linear", "interactions", "sharp rules")


class Made(NamedTuple):
    """A made-up table: rows, labels, and the columns that matter."""

    X: NDArray[np.float32]
    y: NDArray[np.intp]
    useful: NDArray[np.intp]


def made_up(kind: str, n_rows: int, n_columns: int, seed: int) -> Made:
    """A table of normal columns; the label depends on a few of them at random places."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    places = rng.choice(n_columns, 10, replace=False)
    Z = X[:, places]
    if kind == "linear":
        score = Z @ np.array([1.5, -1.2, 1.0, -1.0, 0.8, 0.8, -0.6, 0.6, 0.5, -0.5])
    elif kind == "interactions":
        score = 1.2 * Z[:, 0] + 1.5 * Z[:, 0] * Z[:, 1] + Z[:, 2] + 1.2 * Z[:, 2] * Z[:, 3] - Z[:, 4]
        score += np.abs(Z[:, 5]) - 0.8 + 0.7 * Z[:, 6] * (Z[:, 4] > 0)
        places = places[:7]
    else:
        one = (Z[:, 0] > 0.3) & (Z[:, 1] > -0.5)
        two = (Z[:, 2] > 0.8) & (Z[:, 3] < 0.5)
        score = np.where(one | two | (np.abs(Z[:, 4]) > 1.6), 2.2, -2.2)
        places = places[:5]
    y = rng.random(n_rows) < 1 / (1 + np.exp(-1.5 * score))
    return Made(X.astype(np.float32), y.astype(np.intp), np.sort(places))


def report(kind: str, n_columns: int, seed: int) -> None:
    table = made_up(kind, N_ROWS + N_TEST, n_columns, seed)
    X = table.X[:N_ROWS]
    y = table.y[:N_ROWS]
    start = time.process_time()
    classifier = CertifiedClassifier(random_state=seed).fit(X, y)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.abnet"
        classifier.save(path)
        kilobytes = path.stat().st_size / 1000
    assert classifier.certificate_ is not None
    found = [f"abnet {error(classifier, table):.4f}, certified {classifier.certificate_.vote_error_bound:.4f}"]
    first = classifier.other_rows_
    peers = {"boosting": HistGradientBoostingClassifier(random_state=seed)}
    if find_spec("catboost"):
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        peers["catboost"] = import_module("catboost").CatBoostClassifier(random_seed=seed, **quiet)
    for name, model in peers.items():
        found.append(f"{name} {error(model.fit(X[first], y[first]), table):.4f}")
    left_out = {int(name[1:]) for name in classifier.left_out_}
    n_found = len(set(table.useful.tolist()) - left_out)
    size = f"{n_columns - len(left_out)} columns, {n_found} of {len(table.useful)} useful; {kilobytes:.0f} kB"
    print(f"{kind}, {n_columns:,} columns: {'; '.join(found)}; {size}; {seconds:.0f} s CPU", flush=True)


def error(model: object, table: Made) -> float:
    """Error rate on the rows that no model has seen."""
    predicted = np.ravel(model.predict(table.X[N_ROWS:]))  # type: ignore[attr-defined]
    return float(np.mean(predicted != table.y[N_ROWS:]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[100, 1_000, 5_000])
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for n_columns in given.columns:
        for kind in given.kinds:
            report(kind, n_columns, given.seed)
