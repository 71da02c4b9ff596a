"""A split by time: the model is certified on the latest rows, and the statement is about their period."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.certificates import row_hashes
from abnet.certificates.split import Split
from simulation import Simulation, repeated

DELTA = 0.05
ROWS = 300
REPETITIONS = 1_000
STEPS = 50
FLAT = 0.2
ORDERS = {"file as drawn": "as drawn", "file sorted by time": "by time", "file sorted by label": "by label"}
Array = NDArray[Any]


# A fixed classifier, which answers 0, and whose error rate rises with time


def error_at(times: Array) -> Array:
    """Error rate at a time from 0 to 1."""
    return np.asarray(0.05 + 0.3 * times**2)


def moments(steps: int = STEPS) -> Array:
    """The times at which rows are recorded."""
    return (np.arange(steps) + 0.5) / steps


def risk_after(latest: float, steps: int = STEPS) -> float:
    """Error rate of the period after a time."""
    times = moments(steps)
    return float(error_at(times[times > latest]).mean())


def draw(rng: np.random.Generator, order: str = "as drawn", steps: int = STEPS) -> tuple[Array, Array, Array]:
    """Times, cells and labels; the label 1 is an error."""
    times = rng.choice(moments(steps), size=ROWS)
    y = (rng.random(ROWS) < error_at(times)).astype(int)
    X = rng.integers(0, 6, (ROWS, 1)).astype(float)
    places = {"as drawn": np.arange(ROWS), "by time": np.argsort(times), "by label": np.argsort(y)}[order]
    return times[places], X[places], y[places]


def bound(X: Array, y: Array, rows: Array) -> float:
    """What a user reads off the certificate."""
    made: Any = abnet.certify(lambda cells: np.zeros(len(cells), int), X[rows], y[rows], delta=DELTA)
    return float(made.vote_error_bound)


def split_of(rng: np.random.Generator, times: Array, X: Array, y: Array) -> Split:
    """A split by time with a seed of its own."""
    return Split.by_time(row_hashes(X, y), times, 0.6, int(rng.integers(2**31)))


def period(rng: np.random.Generator, order: str, steps: int = STEPS) -> bool:
    times, X, y = draw(rng, order, steps)
    split = split_of(rng, times, X, y)
    assert split.latest is not None
    return bound(X, y, split.counted) < risk_after(split.latest, steps)


def random_part(rng: np.random.Generator) -> bool:
    """A random part of the same rows, and the period that a split by time would have held out."""
    times, X, y = draw(rng)
    latest = split_of(rng, times, X, y).latest
    assert latest is not None
    split = Split.of(row_hashes(X, y), 0.6, int(rng.integers(2**31)))
    return bound(X, y, split.counted) < risk_after(latest)


def best_period(rng: np.random.Generator) -> bool:
    """Of ten periods of 30 rows each, with the same error rate, the one with the lowest bound."""
    y = (rng.random(ROWS) < FLAT).astype(int)
    X = np.zeros((ROWS, 1))
    return min(bound(X, y, rows) for rows in np.split(np.arange(ROWS), 10)) < FLAT


def later_still(rng: np.random.Generator) -> bool:
    """The certificate of the period, taken for the time after the table, in which the error rate has risen further."""
    times, X, y = draw(rng)
    split = split_of(rng, times, X, y)
    return bound(X, y, split.counted) < float(error_at(moments() + 1.0).mean())


# Whole fits

SIGNS = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)], float)


def chance(cells: Array, times: Array) -> Array:
    """Probability of the label 1: it follows the first column less and less, and the second more and more."""
    return np.asarray(0.1 + 0.8 * ((1 - times) * SIGNS[cells, 0] + times * SIGNS[cells, 1]))


def fitted(rng: np.random.Generator, by_time: bool) -> bool:
    """Fit on a drifting source; false if the model errs more often in the latest 40% of the time than certified."""
    cells = rng.integers(0, 8, ROWS)
    times = rng.choice(moments(), size=ROWS)
    y = (rng.random(ROWS) < chance(cells, times)).astype(int)
    seed = int(rng.integers(2**31))
    model = abnet.ABNetClassifier((2,), max_iter=3, preprocessor=None, delta=DELTA, random_state=seed)
    options: dict[str, Any] = {}
    if by_time:
        options["time"] = times
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three epochs are few, and the source drifts
        model.fit(SIGNS[cells], y, **options)
    latest = Split.by_time(row_hashes(SIGNS[cells], y), times, 0.5, 0).latest
    assert latest is not None
    period = moments()[moments() > latest]
    grid_cells, grid_times = (part.ravel() for part in np.meshgrid(np.arange(8), period))
    p = chance(grid_cells, grid_times)
    answers = np.asarray(model.predict(SIGNS))[grid_cells]
    assert model.certificate_ is not None
    stated = model.certificate_.vote_error_bound
    assert stated is not None
    return bool(stated < np.mean(np.where(answers == 1, 1 - p, p)))


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    for setting, order in ORDERS.items():
        yield repeated(setting, partial(period, order=order), **size)
    yield repeated("ten times, many rows of each", partial(period, order="as drawn", steps=10), **size)
    yield repeated("fit by time", partial(fitted, by_time=True), delta=DELTA, repetitions=500)
    yield repeated("a random part, for the latest period", random_part, trap=True, **size)
    yield repeated("fit on a random part, for the latest period", partial(fitted, by_time=False), delta=DELTA,
                   repetitions=500, trap=True)  # fmt: skip
    yield repeated("the best of ten periods", best_period, trap=True, **size)
    yield repeated("the time after the table", later_still, trap=True, **size)
