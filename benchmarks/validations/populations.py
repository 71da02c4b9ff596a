"""Error in each population of a column, jointly: `abnet.certify(..., by=...)`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.certificates.statements.population_error import PopulationError
from simulation import Simulation, repeated

DELTA = 0.1
ROWS = 400
REPETITIONS = 1_000
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
EQUAL = np.full(8, 0.2)
DIFFERENT = np.array([0.02, 0.1, 0.3, 0.05, 0.5, 0.2, 0.4, 0.3])
Array = NDArray[Any]
Statements = tuple[Any, ...]


def certified(wrong: Array, by: Array) -> Statements:
    """The statements about populations that a user gets."""
    y = np.arange(len(wrong)) % 2
    answers = np.where(wrong, 1 - y, y)
    made: Any = abnet.certify(lambda X: X[:, 0].astype(int), answers[:, None], y, by=by, delta=DELTA)
    return tuple(made.each(PopulationError))


def draw(rng: np.random.Generator, rates: Array, sort: bool = False) -> tuple[Array, Array]:
    """Whether the model errs on each row, and the population of the row."""
    by = rng.choice(8, size=ROWS, p=SHARES)
    wrong = rng.random(ROWS) < rates[by]
    if sort:
        order = np.lexsort([wrong, by])
        by = by[order]
        wrong = wrong[order]
    return wrong, by.astype(str)


def jointly(rates: Array, sort: bool = False) -> Callable[[np.random.Generator], bool]:
    """False if the bound of any population is below its error rate."""

    def fails(rng: np.random.Generator) -> bool:
        statements = certified(*draw(rng, rates, sort))
        return any(s.value < rates[int(s.population)] for s in statements)

    return fails


def with_the_whole_delta(rng: np.random.Generator, chosen: bool) -> bool:
    """Each population with the whole δ; `chosen` looks at the one with the lowest error rate alone."""
    statements = certified(*draw(rng, EQUAL))
    if chosen:
        statements = (min(statements, key=lambda s: s.errors / s.n),)
    return any(clopper_pearson_bound(s.errors, s.n, DELTA) < EQUAL[0] for s in statements)


def found_by_their_errors(rng: np.random.Generator) -> bool:
    """Two populations: the one of 300 cuts through two columns that separates right from wrong answers best."""
    x = rng.normal(size=(ROWS, 2))
    wrong = rng.random(ROWS) < EQUAL[0]
    angles = rng.uniform(0, 2 * np.pi, 300)
    cuts = x @ np.array([np.cos(angles), np.sin(angles)]) > 1.0
    best = min(cuts.T, key=lambda inside: float(wrong[inside].mean()))
    return any(s.value < EQUAL[0] for s in certified(wrong, best.astype(int).astype(str)))


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("eight populations, equal error rates", jointly(EQUAL), **size)
    yield repeated("eight populations, different error rates", jointly(DIFFERENT), **size)
    yield repeated("rows sorted by population and error", jointly(DIFFERENT, sort=True), **size)
    yield repeated("the whole δ for each", lambda rng: with_the_whole_delta(rng, chosen=False), trap=True, **size)
    yield repeated("the best one alone", lambda rng: with_the_whole_delta(rng, chosen=True), trap=True, **size)
    yield repeated("populations found by their errors", found_by_their_errors, trap=True, **size)
