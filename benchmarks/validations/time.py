"""A split by time: the model is certified on the latest rows, and the statement is about their period."""

import warnings
from collections.abc import Iterator
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
CUTS = np.linspace(0.5, 0.95, 20)
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


def split_of(rng: np.random.Generator, times: Array, X: Array, y: Array, fraction: float = 0.6) -> Split:
    """A split by time with a seed of its own."""
    return Split.by_time(row_hashes(X, y), times, fraction, int(rng.integers(2**31)))


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


def best_cut(rng: np.random.Generator) -> bool:
    """Of twenty cuts, the one after which the bound is lowest."""
    times, X, y = draw(rng)
    found = []
    for fraction in CUTS:
        split = split_of(rng, times, X, y, float(fraction))
        found.append((bound(X, y, split.counted), split.latest))
    least, latest = min(found)
    assert latest is not None
    return least < risk_after(latest)


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
    return bool(model.certificate_.vote_error_bound < np.mean(np.where(answers == 1, 1 - p, p)))


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    for order in ("as drawn", "by time", "by label"):
        yield repeated(f"file sorted {order}".replace("sorted as", "as"), lambda rng, o=order: period(rng, o), **size)
    yield repeated("ten times, many rows of each", lambda rng: period(rng, "as drawn", 10), **size)
    yield repeated("fit by time", lambda rng: fitted(rng, True), delta=DELTA, repetitions=500)
    yield repeated("a random part, for the latest period", random_part, trap=True, **size)
    yield repeated("fit on a random part, for the latest period", lambda rng: fitted(rng, False), delta=DELTA,
                   repetitions=500, trap=True)  # fmt: skip
    yield repeated("the best of 20 cuts", best_cut, trap=True, delta=DELTA, repetitions=500)
    yield repeated("the time after the table", later_still, trap=True, **size)
