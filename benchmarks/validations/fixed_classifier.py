"""Error of any fixed classifier: the Clopper-Pearson bound that `abnet.certify` states, for all rows and per class."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.certificates import Split, row_hashes
from simulation import Simulation, repeated

DELTA = 0.05
ROWS = 200
REPETITIONS = 1_000
ERROR = 0.1
CANDIDATES = 20
Array = NDArray[Any]


def sign_of_first(X: Array) -> Array:
    """The classifier: class 1 where the first column is positive."""
    return (X[:, 0] > 0).astype(int)


def draw(rng: np.random.Generator, rows: int = ROWS, error: float = ERROR) -> tuple[Array, Array]:
    """Rows on which the classifier errs with this probability."""
    X = rng.normal(size=(rows, 1))
    wrong = rng.random(rows) < error
    return X, np.where(wrong, 1 - sign_of_first(X), sign_of_first(X))


def bound(X: Array, y: Array) -> float:
    """What a user reads off the certificate."""
    made: Any = abnet.certify(sign_of_first, X, y, delta=DELTA)
    return float(made.vote_error_bound)


def shuffled(rng: np.random.Generator) -> bool:
    return bound(*draw(rng)) < ERROR


def sorted_by_label(rng: np.random.Generator) -> bool:
    X, y = draw(rng)
    order = np.argsort(y, kind="stable")
    return bound(X[order], y[order]) < ERROR


def per_class(rng: np.random.Generator) -> bool:
    """Five classes, one of them with few rows; false if any of their bounds is."""
    rates = np.array([0.05, 0.1, 0.2, 0.3, 0.3])
    y = rng.choice(5, size=500, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    wrong = rng.random(len(y)) < rates[y]
    answers = np.where(wrong, (y + 1) % 5, y)
    made: Any = abnet.certify(lambda X: X[:, 0].astype(int), answers[:, None].astype(float), y, delta=DELTA)
    return any(part.vote_error_bound < rates[int(part.label)] for part in made.per_class)


def sorted_file(rng: np.random.Generator, by_position: bool) -> bool:
    """Hold half of a file that is sorted by label; the classifier says 1 everywhere, and half of the rows are 0."""
    y = np.sort(rng.integers(2, size=2 * ROWS))
    X = rng.normal(size=(len(y), 1))
    held_out = np.arange(ROWS, 2 * ROWS)
    if not by_position:
        held_out = Split.of(row_hashes(X, y), 0.5, int(rng.integers(2**31))).counted
    made: Any = abnet.certify(lambda X: np.ones(len(X), int), X[held_out], y[held_out], delta=DELTA)
    return bool(made.vote_error_bound < 0.5)


def best_of_candidates(rng: np.random.Generator, paid: int) -> bool:
    """Twenty classifiers that err independently on half of the rows; the one with the fewest errors is certified."""
    y = rng.integers(2, size=ROWS)
    answers = rng.integers(2, size=(ROWS, CANDIDATES))
    best = int(np.argmin((answers != y[:, None]).sum(axis=0)))
    made: Any = abnet.certify(lambda X: X[:, best].astype(int), answers, y, delta=DELTA, n_candidates=paid)
    return bool(made.vote_error_bound < 0.5)


def copied_rows(rng: np.random.Generator) -> bool:
    """Fifty rows, each of them four times, as if they were two hundred."""
    X, y = draw(rng, ROWS // 4)
    return bound(np.repeat(X, 4, axis=0), np.repeat(y, 4)) < ERROR


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("200 rows in random order", shuffled, **size)
    yield repeated("200 rows sorted by label", sorted_by_label, **size)
    yield repeated("five classes jointly", per_class, **size)
    yield repeated("split of a sorted file by content", lambda rng: sorted_file(rng, False), **size)
    yield repeated("best of 20, declared", lambda rng: best_of_candidates(rng, CANDIDATES), **size)
    yield repeated("best of 20, not declared", lambda rng: best_of_candidates(rng, 1), trap=True, **size)
    yield repeated("split of a sorted file by position", lambda rng: sorted_file(rng, True), trap=True, **size)
    yield repeated("every row four times", copied_rows, trap=True, **size)
