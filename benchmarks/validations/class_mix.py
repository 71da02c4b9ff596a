"""Another class mix: the error at a known mix and at that of unlabelled rows, as `abnet.certify` states them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds.label_shift import NotLabelShiftError
from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.mix_error import MixError, UnknownMixError
from simulation import Simulation, repeated

DELTA = 0.05
REPETITIONS = 1_000
ROWS = 1_500
NEW_ROWS = 500
Array = NDArray[Any]

ANSWERS = np.array([[0.9, 0.07, 0.03], [0.2, 0.7, 0.1], [0.25, 0.25, 0.5]])
"""How often the rows of each class (down) get each answer (across)."""
OLD = np.array([0.6, 0.3, 0.1])
NEW = np.array([0.2, 0.3, 0.5])
RARE = np.array([0.98, 0.01, 0.01])
DEGRADED = np.array([[0.9, 0.07, 0.03], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
"""The same with other rows in the second and third class."""


def answer(X: Array) -> Array:
    """The classifier: what it answers is a column of the rows."""
    return X[:, 0].astype(int)


def draw(rng: np.random.Generator, rows: int, mix: Array, answers: Array = ANSWERS) -> tuple[Array, Array]:
    """Rows with the classifier's answer, and their labels."""
    y = rng.choice(3, rows, p=mix)
    chances = answers[y].cumsum(axis=1)
    given = (rng.random((rows, 1)) > chances[:, :2]).sum(axis=1)
    return np.column_stack([given, rng.random(rows)]).astype(float), y


def error(mix: Array, answers: Array = ANSWERS) -> float:
    """The true error rate at a mix."""
    return float(mix @ (1 - np.diag(answers)))


def named(mix: Array) -> dict[int, float]:
    return {label: float(share) for label, share in enumerate(mix)}


def stated(made: Any) -> float:
    """The bound at the other mix."""
    certificate: Certificate = made
    (statement,) = certificate.each(MixError)
    return statement.value or 0.0


def known(rng: np.random.Generator, mix: Array, ordered: bool = False) -> bool:
    X, y = draw(rng, ROWS // 3, OLD)
    if ordered:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    return stated(abnet.certify(answer, X, y, mix=named(mix), delta=DELTA)) < error(mix)


def unknown(rng: np.random.Generator, mix: Array) -> bool:
    """The bound, and the limits of the shares."""
    X, y = draw(rng, ROWS, OLD)
    new_rows, _ = draw(rng, NEW_ROWS, mix)
    try:
        made: Any = abnet.certify(answer, X, y, new_rows=new_rows, delta=DELTA)
    except NotLabelShiftError:
        return True
    (statement,) = made.each(UnknownMixError)
    outside = any(not low <= share <= high for (low, high), share in zip(statement.shares, mix, strict=True))
    return outside or stated(made) < error(mix)


def old_mix(rng: np.random.Generator) -> bool:
    """The certificate of the old mix, read as one about the new mix."""
    X, y = draw(rng, ROWS, OLD)
    made: Any = abnet.certify(answer, X, y, delta=DELTA)
    return bool(made.vote_error_bound < error(NEW))


def plugged_in(rng: np.random.Generator) -> bool:
    """The mix is estimated with the inverse of the confusion matrix, and taken as known."""
    X, y = draw(rng, 20 * ROWS, OLD)
    new_rows, _ = draw(rng, NEW_ROWS, NEW)
    rates = np.array([np.bincount(answer(X[y == label]), minlength=3) / np.sum(y == label) for label in range(3)])
    frequencies = np.bincount(answer(new_rows), minlength=3) / NEW_ROWS
    estimate = np.clip(np.linalg.solve(rates.T, frequencies), 0.0, None)
    return stated(abnet.certify(answer, X, y, mix=named(estimate / estimate.sum()), delta=DELTA)) < error(NEW)


def other_rows(rng: np.random.Generator) -> bool:
    """The rows within two classes look different in the new data: no label shift."""
    X, y = draw(rng, ROWS, OLD)
    return stated(abnet.certify(answer, X, y, mix=named(NEW), delta=DELTA)) < error(NEW, DEGRADED)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("known mix", lambda rng: known(rng, NEW), **size)
    yield repeated("known mix, sorted by label", lambda rng: known(rng, NEW, ordered=True), **size)
    yield repeated("known mix, one class in 98%", lambda rng: known(rng, RARE), **size)
    yield repeated("unknown mix", lambda rng: unknown(rng, NEW), **size)
    yield repeated("unknown mix, one class in 98%", lambda rng: unknown(rng, RARE), **size)
    yield repeated("bound for the old mix", old_mix, trap=True, **size)
    yield repeated("estimated mix taken as known", plugged_in, trap=True, **size)
    yield repeated("rows within classes change, too", other_rows, trap=True, **size)
