"""False alarms of `abnet.Monitor` while the promise holds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.clopper_pearson import binomial_tail
from simulation import Simulation, repeated

ALPHA = 0.05
DELTA = 0.05
PROMISED = 0.1
ROWS = 2_000
BATCH = 100
REPETITIONS = 1_000
Array = NDArray[Any]


def alarms(wrong: Array, promised: float = PROMISED) -> bool:
    """Whether a monitor that reads the rows in batches ever raises an alarm."""
    watch = abnet.Monitor(promised, alpha=ALPHA)
    for start in range(0, len(wrong), BATCH):
        watch.update(wrong[start : start + BATCH])
    return watch.alarm


def as_promised(rng: np.random.Generator) -> bool:
    return alarms(rng.random(ROWS) < PROMISED)


def in_bursts(rng: np.random.Generator) -> bool:
    """Errors depend on the past: after an error, the next rows have none or the promised rate, by turns."""
    draws = rng.random(ROWS) < PROMISED
    wrong = np.zeros(ROWS, bool)
    quiet = 0
    for row in range(ROWS):
        if quiet > 0:
            quiet -= 1
            continue
        wrong[row] = draws[row]
        if draws[row]:
            quiet = int(rng.integers(3))
    return alarms(wrong)


def certified_first(rng: np.random.Generator) -> bool:
    """The promise is a certificate from 300 rows, which is false with probability δ; both risks add up."""
    errors = int(rng.binomial(300, PROMISED))
    return alarms(rng.random(ROWS) < PROMISED, clopper_pearson_bound(errors, 300, DELTA))


def tested_after_every_batch(rng: np.random.Generator) -> bool:
    """An exact test at level α of all rows so far, repeated after every batch."""
    errors = np.cumsum((rng.random(ROWS) < PROMISED).reshape(-1, BATCH).sum(axis=1))
    for batch, count in enumerate(errors.tolist(), start=1):
        # So many correct rows or fewer.
        if binomial_tail(batch * BATCH - count, batch * BATCH, 1.0 - PROMISED) <= ALPHA:
            return True
    return False


def flagged_rows_only(rng: np.random.Generator) -> bool:
    """Labels arrive only for rows that the model is unsure of, a fifth of all, where it errs on 30%."""
    return alarms(rng.random(ROWS // 5) < 0.3)


def sorted_by_error(rng: np.random.Generator) -> bool:
    """Each batch of 500 rows is handed over with the errors first: the order depends on the errors."""
    wrong = (rng.random(ROWS) < PROMISED).reshape(-1, 500)
    return alarms(np.sort(wrong, axis=1)[:, ::-1].ravel())


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": ALPHA, "repetitions": REPETITIONS}
    yield repeated("2,000 rows at the promised rate", as_promised, **size)
    yield repeated("errors that depend on earlier rows", in_bursts, **size)
    yield repeated(
        "a promise from a certificate (α + δ)", certified_first, delta=ALPHA + DELTA, repetitions=REPETITIONS
    )
    yield repeated("a test of all rows after every batch", tested_after_every_batch, trap=True, **size)
    yield repeated("labels for doubtful rows only", flagged_rows_only, trap=True, **size)
    yield repeated("rows with errors first", sorted_by_error, trap=True, **size)
