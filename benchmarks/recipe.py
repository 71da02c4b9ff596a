"""The default fit against a forest's, a mixture against one of its members, and the spread over seeds."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier

from abnet import CertifiedClassifier
from measure import Row, at_most, best_costs, best_times, certified_error, stated

ROWS = (500, 1_000, 2_000, 5_000)
COLUMNS = 20
SEEDS = range(5)


def default_fit() -> Iterator[Row]:
    """A warm default fit of two classes against a forest of 300 trees, for several numbers of rows."""
    for n in ROWS:
        X, y = made_up(n)
        CertifiedClassifier(random_state=1).fit(X, y)  # compiles, or reads the compiled programs
        ours, forest = best_costs(
            partial(CertifiedClassifier(random_state=0).fit, X, y),
            partial(RandomForestClassifier(300, n_jobs=2, random_state=0).fit, X, y),
        )
        detail = f"{ours.wall:.2f} / {forest.wall:.2f} s; CPU {ours.cpu:.2f} / {forest.cpu:.2f} s"
        what = f"default fit / forest of 300 trees, {n:,} × {COLUMNS}"
        yield at_most(what, ours.wall / forest.wall, 5, detail)
        yield stated(f"{what}, CPU time", ours.cpu / forest.cpu, detail)


def members() -> list[Row]:
    X, y = made_up(ROWS[-1])
    one: dict[str, Any] = {"codes": "thermometer", "teacher": None, "max_iter": 40, "random_state": 0}
    fits = [partial(CertifiedClassifier((8,), n_estimators=count, **one).fit, X, y) for count in (1, 8)]
    alone, eight = best_times(*fits, repeat=2)
    return [at_most("8 members / 1 member, one fit", eight / alone, 4, f"{eight:.2f} / {alone:.2f} s")]


def made_up(n_rows: int) -> Any:
    return make_classification(n_rows, COLUMNS, n_informative=10, flip_y=0.1, random_state=0)


def spread() -> list[Row]:
    X, digit = load_digits(return_X_y=True)
    y = digit >= 5
    found = [certified_error(CertifiedClassifier(random_state=seed).fit(X, y)) for seed in SEEDS]
    ratio = (max(found) - min(found)) / float(np.mean(found))
    listed = ", ".join(f"{100 * bound:.1f}" for bound in found)
    return [at_most("digits, 0-4 or 5-9: range / mean of certificates over five seeds", ratio, 1 / 3, f"{listed} %")]


def rows() -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from default_fit()
        yield from members()
        yield from spread()
