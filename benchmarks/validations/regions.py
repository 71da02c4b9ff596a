"""Error in each region of a narrow network, jointly: what `abnet.certify` states about a model with regions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.certificates import Split, row_hashes
from abnet.certificates.statements.region_error import RegionError
from abnet.model import Model
from abnet.model.predictors.compact import Compact
from simulation import Simulation, repeated

DELTA = 0.1
ROWS = 400
REPETITIONS = 1_000
NETWORK = Model(Compact(3 * np.eye(2)[None], np.zeros((1, 2)), np.array([[-1.0, 1.0, 1.0, -1.0]])))
"""The signs of two columns, and their exclusive or: four regions, the quadrants."""
CENTRE = np.array([0.5, 0.5])
"""Mean of the columns; so the regions have 10% to 48% of the rows."""
EQUAL = dict.fromkeys(("--", "-+", "+-", "++"), 0.3)
DIFFERENT = {"--": 0.4, "-+": 0.05, "+-": 0.2, "++": 0.02}
Array = NDArray[Any]


def draw(rng: np.random.Generator, rates: dict[str, float], rows: int = ROWS) -> tuple[Array, Array]:
    """Rows, and labels that the network gets wrong with the rate of the region."""
    X = rng.normal(size=(rows, 2)) + CENTRE
    names = np.where(X[:, 0] >= 0, "+", "-").astype(object) + np.where(X[:, 1] >= 0, "+", "-").astype(object)
    chances = np.array([rates[name] for name in names])
    answers = NETWORK.predict(X)
    return X, np.where(rng.random(rows) < chances, -answers, answers)


def stated(X: Array, y: Array) -> tuple[Any, ...]:
    made: Any = abnet.certify(NETWORK, X, y, delta=DELTA)
    return tuple(made.each(RegionError))


def jointly(rates: dict[str, float]) -> Callable[[np.random.Generator], bool]:
    return lambda rng: any(s.value < rates[s.signs] for s in stated(*draw(rng, rates)))


def sorted_file(rng: np.random.Generator, by_position: bool) -> bool:
    """Half of a file that is sorted by errors is held out."""
    X, y = draw(rng, DIFFERENT, 2 * ROWS)
    order = np.argsort(NETWORK.predict(X) != y, kind="stable")
    X = X[order]
    y = y[order]
    held_out = np.arange(ROWS)
    if not by_position:
        held_out = Split.of(row_hashes(X, y), 0.5, int(rng.integers(2**31))).counted
    return any(s.value < DIFFERENT[s.signs] for s in stated(X[held_out], y[held_out]))


def with_the_whole_delta(rng: np.random.Generator) -> bool:
    bounds = [clopper_pearson_bound(s.errors, s.n, DELTA) for s in stated(*draw(rng, EQUAL))]
    return min(bounds) < 0.3


def best_alone(rng: np.random.Generator) -> bool:
    best = min(stated(*draw(rng, EQUAL)), key=lambda s: s.errors / s.n)
    return clopper_pearson_bound(best.errors, best.n, DELTA) < 0.3


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("four regions, equal error rates", jointly(EQUAL), **size)
    yield repeated("four regions, different error rates", jointly(DIFFERENT), **size)
    yield repeated("half of a sorted file, by content", lambda rng: sorted_file(rng, False), **size)
    yield repeated("half of a sorted file, by position", lambda rng: sorted_file(rng, True), trap=True, **size)
    yield repeated("the whole δ for each region", with_the_whole_delta, trap=True, **size)
    yield repeated("the best region alone", best_alone, trap=True, **size)
