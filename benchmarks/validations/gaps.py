"""Gaps between groups: the limits and the largest gap that `abnet.Gaps` asks for, and the counterfactual share."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.gap_bound import GapBound, Rate
from simulation import Simulation, repeated

DELTA = 0.05
REPETITIONS = 1_000
MODELS = 20
COLUMNS = 20
Array = NDArray[Any]

SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
POSITIVE = np.array([0.2, 0.3, 0.4, 0.3, 0.5])
"""Share of each group, and of the positive class in it."""
FOUND = np.array([0.9, 0.85, 0.8, 0.9, 0.7])
ALARMS = np.array([0.1, 0.2, 0.1, 0.3, 0.2])
"""True-positive and false-positive rate of each group."""
TRUE_RATES: dict[Rate, Array] = {
    "error": POSITIVE * (1 - FOUND) + (1 - POSITIVE) * ALARMS,
    "true-positive": FOUND,
    "false-positive": ALARMS,
    "selection": POSITIVE * FOUND + (1 - POSITIVE) * ALARMS,
}


def answer(X: Array) -> Array:
    """The classifier: what it answers is a column of the rows."""
    return X[:, 0].astype(int)


def draw(rng: np.random.Generator, rows: int) -> tuple[Array, Array, Array]:
    """Rows with the classifier's answer, labels, and groups."""
    group = rng.choice(len(SHARES), rows, p=SHARES)
    y = (rng.random(rows) < POSITIVE[group]).astype(int)
    positive = rng.random(rows) < np.where(y == 1, FOUND[group], ALARMS[group])
    return np.column_stack([positive, rng.random(rows)]), y, group


def certified(X: Array, y: Array, group: Array, delta: float = DELTA, n_candidates: int = 1) -> Certificate:
    """What a user gets for the positive class 1."""
    made: Any = abnet.certify(answer, X, y, by=abnet.Gaps(group, positive=1), delta=delta, n_candidates=n_candidates)
    return made


def is_false(made: Certificate, rate: Rate, truth: Array) -> bool:
    """Whether the gap, or a limit of one of the groups, is false."""
    (statement,) = (part for part in made.each(GapBound) if part.rate == rate)
    rates = np.array([truth[int(part.group)] for part in statement.groups])
    outside = any(not part.low <= true <= part.high for part, true in zip(statement.groups, rates, strict=True))
    return outside or (statement.value is not None and statement.value < float(np.ptp(rates)))


def five_groups(rng: np.random.Generator, rate: Rate, ordered: bool = False) -> bool:
    X, y, group = draw(rng, 600)
    if ordered:
        order = np.lexsort([y, group])
        X, y, group = X[order], y[order], group[order]
    return is_false(certified(X, y, group), rate, TRUE_RATES[rate])


def unshared(rng: np.random.Generator) -> bool:
    """Every group is certified against the rest, one after the other, as if only one were looked at."""
    X, y, group = draw(rng, 600)
    limits = []
    for g in range(len(SHARES)):
        inside = group == g
        pair = np.where(inside, "inside", "outside")
        made = certified(X, y, pair, delta=DELTA)
        (statement,) = (part for part in made.each(GapBound) if part.rate == "error")
        limits.append(next(part for part in statement.groups if part.group == "inside"))
    return any(not part.low <= true <= part.high for part, true in zip(limits, TRUE_RATES["error"], strict=True))


def two_groups(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A large group in which 99% of the positive rows are found, and a small one with 90%; all rows are positive."""
    group = np.repeat([0, 1], [400, 20])
    found = rng.random(len(group)) < np.array([0.99, 0.9])[group]
    return np.column_stack([found, rng.random(len(group))]), np.ones(len(group), int), group


def small_group(rng: np.random.Generator) -> bool:
    made = certified(*two_groups(rng))
    return is_false(made, "true-positive", np.array([0.99, 0.9]))


def bootstrap(rng: np.random.Generator) -> bool:
    """The 95% percentile of the gap over 1,000 bootstrap samples, in place of the certified gap."""
    X, _, group = two_groups(rng)
    found = [X[group == g, 0].mean() for g in (0, 1)]
    samples = [rng.binomial(n, rate, 1000) / n for n, rate in zip((400, 20), found, strict=True)]
    gap = np.quantile(np.abs(samples[0] - samples[1]), 1 - DELTA)
    return bool(gap < 0.09)


def fairest_model(rng: np.random.Generator, paid: int) -> bool:
    """Twenty models with the same gap of 20 points; the one with the smallest observed gap is certified."""
    group = np.arange(400) % 2
    wrong = rng.random((MODELS, 400)) < np.array([0.3, 0.5])[group]
    gaps = np.abs(wrong[:, group == 0].mean(axis=1) - wrong[:, group == 1].mean(axis=1))
    answers = wrong[int(np.argmin(gaps))].astype(float)
    X = np.column_stack([answers, rng.random(400)])
    made: Any = abnet.certify(answer, X, np.zeros(400, int), by=abnet.Gaps(group), delta=DELTA, n_candidates=paid)
    return is_false(made, "error", np.array([0.3, 0.5]))


def changed_answers(rng: np.random.Generator) -> bool:
    """The answer of a tenth of the rows depends on the column."""
    X = np.column_stack([rng.integers(2, size=300), rng.random(300)]).astype(float)
    made = abnet.certify_counterfactual(lambda X: X[:, 0] * (X[:, 1] < 0.1), X, 0, values=[0.0, 1.0], delta=DELTA)
    return (made.statements[0].value or 0.0) < 0.1


def harmless_column(rng: np.random.Generator, paid: int) -> bool:
    """Each of twenty columns changes a tenth of the answers; the one that changes fewest rows here is certified."""
    depends = rng.random((300, COLUMNS)) < 0.1
    best = int(np.argmin(depends.sum(axis=0)))
    X = np.column_stack([rng.integers(2, size=300), depends[:, best]]).astype(float)
    made = abnet.certify_counterfactual(
        lambda X: X[:, 0] * X[:, 1], X, 0, values=[0.0, 1.0], delta=DELTA, n_candidates=paid
    )
    return (made.statements[0].value or 0.0) < 0.1


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    for rate in TRUE_RATES:
        yield repeated(f"five groups, {rate} rate", partial(five_groups, rate=rate), **size)
    yield repeated("five groups, sorted", lambda rng: five_groups(rng, "error", ordered=True), **size)
    yield repeated("a group of 20 rows", small_group, **size)
    yield repeated("fairest of 20 models, declared", lambda rng: fairest_model(rng, MODELS), **size)
    yield repeated("counterfactual share", changed_answers, **size)
    yield repeated("least of 20 columns, declared", lambda rng: harmless_column(rng, COLUMNS), **size)
    yield repeated("every group with a δ of its own", unshared, trap=True, **size)
    yield repeated("a group of 20 rows, by the bootstrap", bootstrap, trap=True, **size)
    yield repeated("fairest of 20 models, not declared", lambda rng: fairest_model(rng, 1), trap=True, **size)
    yield repeated("least of 20 columns, not declared", lambda rng: harmless_column(rng, 1), trap=True, **size)
