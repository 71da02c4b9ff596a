"""Planned numbers of rows: `abnet.plan`, and how often so many rows fail to certify the target."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import abnet
from abnet.bounds import clopper_pearson_bound
from simulation import Simulation, repeated

POWER = 0.9
DELTA = 0.1
"""One minus the power."""
REPETITIONS = 2_000


def fails(rng: np.random.Generator, plan: Any, rate: float, rows: int | None = None) -> bool:
    """Collect the planned rows, and count how many of those that matter are failures, which occur at this rate."""
    limit = plan.target
    if plan.promise != "error":
        limit = 1.0 - plan.target
    counted = int(rng.binomial(rows or plan.rows, plan.share))
    failures = int(rng.binomial(counted, rate))
    if counted == 0:
        return True
    return clopper_pearson_bound(failures, counted, plan.delta, n_candidates=plan.n_candidates) > limit


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    error = abnet.plan(target_error=0.05, expected_error=0.03, power=POWER)
    yield repeated("error at most 5%, expected 3%", lambda rng: fails(rng, error, 0.03), **size)
    rare = abnet.plan(target_error=0.01, expected_error=0.0, power=POWER)
    yield repeated("error at most 1%, no errors expected", lambda rng: fails(rng, rare, 0.0), **size)
    several = abnet.plan(target_error=0.1, expected_error=0.05, power=POWER, n_candidates=5)
    yield repeated("error at most 10%, five candidates", lambda rng: fails(rng, several, 0.05), **size)
    recall = abnet.plan(target_recall=0.9, expected_recall=0.95, share=0.1, power=POWER)
    yield repeated("recall at least 90%, a tenth of the rows", lambda rng: fails(rng, recall, 0.05), **size)
    precision = abnet.plan(target_precision=0.8, expected_precision=0.9, share=0.3, power=POWER)
    yield repeated("precision at least 80%, 30% of the rows", lambda rng: fails(rng, precision, 0.1), **size)
    yield repeated("the error rate is 3.5%, not 3%", lambda rng: fails(rng, error, 0.035), trap=True, **size)
    half = error.rows // 2
    yield repeated("half of the planned rows", lambda rng: fails(rng, error, 0.03, half), trap=True, **size)
