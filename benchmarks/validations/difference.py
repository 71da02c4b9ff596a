"""Difference of two models on the same rows: the bound and the sign test of `abnet.compare_errors`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds.difference import sign_test
from simulation import Simulation, repeated

DELTA = 0.1
ROWS = 150
REPETITIONS = 1_000
PAIRS = 10
Array = NDArray[Any]


def draw(rng: np.random.Generator, only_a: float, only_b: float) -> tuple[Array, Array]:
    """Answers of two models, and labels; rows where both are wrong, or one, with the given probabilities."""
    y = rng.integers(2, size=ROWS)
    case = rng.choice(4, size=ROWS, p=[1 - 0.05 - only_a - only_b, 0.05, only_a, only_b])
    wrong_a = (case == 1) | (case == 2)
    wrong_b = (case == 1) | (case == 3)
    return np.column_stack([np.where(wrong_a, 1 - y, y), np.where(wrong_b, 1 - y, y)]), y


def compared(X: Array, y: Array) -> Any:
    return abnet.compare_errors(lambda X: X[:, 0], lambda X: X[:, 1], X, y, delta=DELTA)


def difference_is_false(rng: np.random.Generator, only_a: float, only_b: float, sort: bool = False) -> bool:
    X, y = draw(rng, only_a, only_b)
    if sort:
        order = np.lexsort([X[:, 1], X[:, 0], y])
        X = X[order]
        y = y[order]
    return bool(compared(X, y).difference_bound < only_a - only_b)


def better_is_false(rng: np.random.Generator) -> bool:
    """Equal error rates, and A is called better."""
    _, better = compared(*draw(rng, 0.1, 0.1)).statements
    return better.value is not None


def looked_first(rng: np.random.Generator) -> bool:
    """Equal error rates; the model with fewer errors is called A after looking."""
    X, y = draw(rng, 0.15, 0.15)
    wrong = (y[:, None] != X).sum(axis=0)
    order = np.argsort(wrong, kind="stable")
    _, better = compared(X[:, order], y).statements
    return better.value is not None


def best_of_pairs(rng: np.random.Generator, paid: int) -> bool:
    """Ten models that are as good as the one in use; the best of them is called better."""
    only_a = rng.binomial(ROWS, 0.1, PAIRS)
    only_b = rng.binomial(ROWS - only_a, 0.1 / 0.9)
    pairs = zip(only_a.tolist(), only_b.tolist(), strict=True)
    return any(sign_test(a, b, DELTA, n_candidates=paid) is not None for a, b in pairs)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("equal error rates", lambda rng: difference_is_false(rng, 0.1, 0.1), **size)
    yield repeated("A is better", lambda rng: difference_is_false(rng, 0.02, 0.1), **size)
    yield repeated("B is better", lambda rng: difference_is_false(rng, 0.3, 0.1), **size)
    yield repeated("sorted by label and answer", lambda rng: difference_is_false(rng, 0.1, 0.1, sort=True), **size)
    yield repeated("A is called better, equal error rates", better_is_false, **size)
    yield repeated("best of ten models, declared", lambda rng: best_of_pairs(rng, PAIRS), **size)
    yield repeated("best of ten models, not declared", lambda rng: best_of_pairs(rng, 1), trap=True, **size)
    yield repeated("the better model named after looking", looked_first, trap=True, **size)
