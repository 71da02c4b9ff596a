"""Rows that belong together: the error rate on a new group, `abnet.certify(..., groups=...)`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from simulation import Simulation, repeated

DELTA = 0.05
GROUPS = 40
REPETITIONS = 1_000
RATE = 0.2
Array = NDArray[Any]


def draw(rng: np.random.Generator, unequal: bool = False) -> tuple[Array, Array, Array]:
    """Answers, labels and groups; every group has an error rate of its own, 20% on average."""
    sizes = np.full(GROUPS, 8)
    rates = rng.beta(0.2, 0.8, GROUPS)
    if unequal:
        # Groups with many rows have more errors, and groups count equally whatever their size.
        large = rng.random(GROUPS) < 0.5
        sizes = np.where(large, 20, 2)
        rates = np.where(large, rng.beta(3.0, 7.0, GROUPS), rng.beta(1.0, 9.0, GROUPS))
    groups = np.repeat(np.arange(GROUPS), sizes)
    y = rng.integers(2, size=len(groups))
    wrong = rng.random(len(groups)) < rates[groups]
    X = np.column_stack([np.where(wrong, 1 - y, y), rng.normal(size=len(y))])
    return X, y, groups


def first(X: Array) -> Array:
    return X[:, 0].astype(int)


def by_group(rng: np.random.Generator, unequal: bool = False, sort: bool = False) -> bool:
    X, y, groups = draw(rng, unequal)
    if sort:
        wrong = first(X) != y
        order = np.argsort(np.bincount(groups, wrong)[groups], kind="stable")
        X = X[order]
        y = y[order]
        groups = groups[order]
    made: Any = abnet.certify(first, X, y, groups=groups, delta=DELTA, random_state=int(rng.integers(2**31)))
    return bool(made.vote_error_bound < RATE)


def by_row(rng: np.random.Generator) -> bool:
    X, y, _ = draw(rng)
    made: Any = abnet.certify(first, X, y, delta=DELTA)
    return bool(made.vote_error_bound < RATE)


def known_groups(rng: np.random.Generator) -> bool:
    """A model that has memorised three quarters of the groups, certified on new rows of the old groups."""
    X, y, groups = draw(rng)
    known = groups < 3 * GROUPS // 4
    X[known, 0] = y[known]
    made: Any = abnet.certify(first, X, y, groups=groups, delta=DELTA, random_state=int(rng.integers(2**31)))
    return bool(made.vote_error_bound < RATE)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("40 groups of 8 rows", by_group, **size)
    yield repeated("groups of 2 and of 20 rows", lambda rng: by_group(rng, unequal=True), **size)
    yield repeated("groups sorted by their errors", lambda rng: by_group(rng, sort=True), **size)
    yield repeated("rows counted as independent", by_row, trap=True, **size)
    yield repeated("groups that the model has seen", known_groups, trap=True, **size)
