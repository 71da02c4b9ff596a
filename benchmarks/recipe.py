"""The default fit against a forest's, a mixture against one of its members, and the spread over seeds."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier

from abnet import CertifiedClassifier
from measure import Row, at_most, certified_error

ROWS, COLUMNS = 5_000, 20
SEEDS = range(5)


def seconds(fit: Any) -> float:
    begin = time.perf_counter()
    fit()
    return time.perf_counter() - begin


def default_fit() -> list[Row]:
    X, y = make_classification(ROWS, COLUMNS, n_informative=10, flip_y=0.1, random_state=0)
    CertifiedClassifier(random_state=1).fit(X, y)  # compiles, or reads the compiled programs
    ours = min(seconds(lambda: CertifiedClassifier(random_state=0).fit(X, y)) for _ in range(2))
    forest = min(seconds(lambda: RandomForestClassifier(300, n_jobs=2, random_state=0).fit(X, y)) for _ in range(2))
    one: dict[str, Any] = {
        "hidden_layer_sizes": (8,),
        "codes": "thermometer",
        "teacher": None,
        "batch_size": 128,
        "max_iter": 40,
    }
    times = {}
    for members in (1, 8):
        fit = CertifiedClassifier(n_estimators=members, random_state=0, **one)
        fit.fit(X, y)
        times[members] = min(seconds(lambda fit=fit: fit.fit(X, y)) for _ in range(2))
    return [
        at_most(
            "default fit / forest of 300 trees, 5,000 × 20", ours / forest, 6, f"{ours:.1f} / {forest:.1f} s, warm"
        ),
        at_most("8 members / 1 member, one fit", times[8] / times[1], 4, f"{times[8]:.2f} / {times[1]:.2f} s"),
    ]


def spread() -> list[Row]:
    X, digit = load_digits(return_X_y=True)
    y = digit >= 5
    found = [certified_error(CertifiedClassifier(random_state=seed).fit(X, y)) for seed in SEEDS]
    ratio = (max(found) - min(found)) / float(np.mean(found))
    listed = ", ".join(f"{100 * bound:.1f}" for bound in found)
    return [at_most("digits, 0-4 or 5-9: range / mean of certificates over five seeds", ratio, 1 / 3, f"{listed} %")]


def rows() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*default_fit(), *spread()]
