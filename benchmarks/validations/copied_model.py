"""Error of a copy of a certified model, from its answers to unlabelled rows: `abnet.certify_copy`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds.copied_model import copy_error_bound
from abnet.model import Model
from abnet.model.predictors.compact import Compact
from simulation import Simulation, repeated

DELTA = 0.2
LABELLED = 150
UNLABELLED = 300
REPETITIONS = 400
COPIES = 20
ERROR = 0.08
DIFFERENT = 0.04
NETWORK = Model(Compact(3 * np.eye(2)[None], np.zeros((1, 2)), np.array([[-1.0, 1.0, 1.0, -1.0]])))
Array = NDArray[Any]


def certified(rng: np.random.Generator, error: float = ERROR) -> Model:
    """The model with a certificate from new labelled rows."""
    X = rng.normal(size=(LABELLED, 2))
    answers = NETWORK.predict(X)
    y = np.where(rng.random(LABELLED) < error, -answers, answers)
    made: Any = abnet.certify(NETWORK, X, y, delta=0.5)
    return replace(NETWORK, certificate=made)


def copy_answers(rng: np.random.Generator, rate: float, rows: int = UNLABELLED) -> dict[str, Array]:
    """Columns, and the answers of a copy that differs from the model at this rate."""
    X = rng.normal(size=(rows, 2))
    answers = NETWORK.predict(X)
    differs = rng.random(rows) < rate
    return {"x0": X[:, 0], "x1": X[:, 1], "answer": np.where(differs, -answers, answers)}


def bound(model: Model, frame: dict[str, Array]) -> float:
    made: Any = abnet.certify_copy(model, frame, prediction="answer", delta=DELTA)
    return float(made.statements[0].value)


def copy_that_errs_more(rng: np.random.Generator, sort: bool = False) -> bool:
    """Where the copy differs it is wrong, so its error rate is the sum of both rates: the worst case."""
    frame = copy_answers(rng, DIFFERENT)
    if sort:
        order = np.argsort(frame["answer"], kind="stable")
        frame = {name: column[order] for name, column in frame.items()}
    return bound(certified(rng), frame) < ERROR + DIFFERENT


def copy_that_repeats(rng: np.random.Generator) -> bool:
    """An exact copy: its error rate is the model's."""
    return bound(certified(rng), copy_answers(rng, 0.0)) < ERROR


def without_comparison(rng: np.random.Generator) -> bool:
    """The certificate of the model, quoted for the copy."""
    errors = int(rng.binomial(LABELLED, ERROR))
    return copy_error_bound(errors, LABELLED, 0, 10**9, DELTA) < ERROR + DIFFERENT


def other_source(rng: np.random.Generator) -> bool:
    """Answers are compared on rows on which the copy rarely differs, such as those it was tuned on."""
    return bound(certified(rng), copy_answers(rng, DIFFERENT / 10)) < ERROR + DIFFERENT


def best_of_copies(rng: np.random.Generator, paid: int) -> bool:
    """Twenty models of the same quality, each with its copy; the copy with the lowest bound is chosen."""
    errors = rng.binomial(LABELLED, ERROR, COPIES).tolist()
    differing = rng.binomial(UNLABELLED, DIFFERENT, COPIES).tolist()
    bounds = [
        copy_error_bound(k, LABELLED, d, UNLABELLED, DELTA, n_candidates=paid)
        for k, d in zip(errors, differing, strict=True)
    ]
    return min(bounds) < ERROR + DIFFERENT


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("a copy that is wrong where it differs", copy_that_errs_more, **size)
    yield repeated("rows sorted by the copy's answer", lambda rng: copy_that_errs_more(rng, sort=True), **size)
    yield repeated("a copy that never differs", copy_that_repeats, **size)
    yield repeated("best of 20 copies, declared", lambda rng: best_of_copies(rng, COPIES), **size)
    yield repeated("best of 20 copies, not declared", lambda rng: best_of_copies(rng, 1), trap=True, **size)
    yield repeated("the model's certificate quoted for the copy", without_comparison, trap=True, **size)
    yield repeated("compared on rows of another source", other_source, trap=True, **size)
