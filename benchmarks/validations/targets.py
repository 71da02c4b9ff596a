"""Target rates of a decision: thresholds that are scores of the rows that test them, by `abnet.certify_scores`."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from abnet import TargetError, TargetPrecision, TargetRecall, TargetSpecificity, certify_scores
from abnet.certificates.statements.rate_test import RateTest
from simulation import Simulation, repeated

DELTA = 0.1
ROWS = 300
REPETITIONS = 400
SHARE = 0.3
LEVEL = 0.85
ERROR = 0.05
Floats = NDArray[np.float64]


def draw(rng: np.random.Generator, rows: int = ROWS) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores of a tenth of a standard deviation each, so that many are equal; positive rows have larger ones."""
    positive = rng.random(rows) < SHARE
    return (rng.normal(size=rows) + 2.4 * positive).round(1), positive


def true_rates(threshold: float) -> dict[str, float]:
    """True rates of the rule "positive above the threshold", which lies between two tenths."""
    edge = np.floor(threshold * 10.0 + 1e-9) / 10.0 + 0.05
    recall = float(ndtr(2.4 - edge))
    alarms = float(ndtr(-edge))
    called = SHARE * recall + (1 - SHARE) * alarms
    return {"recall": recall, "precision": SHARE * recall / called, "specificity": 1.0 - alarms}


GOALS: dict[str, Any] = {
    "recall": TargetRecall(LEVEL, True),
    "precision": TargetPrecision(LEVEL, True),
    "specificity": TargetSpecificity(LEVEL, True),
}


def certified(scores: Floats, truth: NDArray[Any], goal: Any, **options: Any) -> float | None:
    """The threshold that a user reads off the certificate; None if nothing could be certified."""
    (test,) = certify_scores(scores, truth, goal, delta=DELTA, **options).each(RateTest)
    if test.value is None:
        return None
    threshold: float = test.rule.threshold  # type: ignore[attr-defined]
    return threshold


def misses(rng: np.random.Generator, rate: str, *, by_label: bool = False) -> bool:
    """Whether the rate is below its target at the certified threshold."""
    scores, positive = draw(rng)
    if by_label:
        order = np.argsort(positive, kind="stable")
        scores = scores[order]
        positive = positive[order]
    threshold = certified(scores, positive, GOALS[rate])
    return threshold is not None and true_rates(threshold)[rate] < LEVEL


def at_the_limit(rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """A confidence that says nothing about errors, whose rate is just above the target at every threshold."""
    return rng.random(ROWS), rng.random(ROWS) < ERROR * 1.0001


def answers_too_many_wrongly(rng: np.random.Generator) -> bool:
    """Every certificate is false."""
    sure, wrong = at_the_limit(rng)
    return certified(sure, wrong, TargetError(ERROR), answers=np.zeros(ROWS, bool)) is not None


def any_threshold_that_passes(rng: np.random.Generator) -> bool:
    """Test every score at the whole δ, and do not stop at a failure."""
    sure, wrong = at_the_limit(rng)
    failures = np.cumsum(wrong[np.argsort(-sure)])
    return bool(np.any(binom.cdf(failures, np.arange(1, ROWS + 1), ERROR) <= DELTA))


def looks_good_enough(rng: np.random.Generator) -> bool:
    """The largest threshold whose recall on the rows themselves meets the target."""
    scores, positive = draw(rng)
    threshold = float(np.quantile(scores[positive], 1.0 - LEVEL, method="lower")) - 0.05
    return true_rates(threshold)["recall"] < LEVEL


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    for rate in GOALS:
        yield repeated(f"{rate}, rows in random order", partial(misses, rate=rate), **size)
    yield repeated("precision, rows sorted by label", lambda rng: misses(rng, "precision", by_label=True), **size)
    yield repeated("error among answered rows, at the limit", answers_too_many_wrongly, **size)
    yield repeated("any threshold that passes its own test", any_threshold_that_passes, trap=True, **size)
    yield repeated("recall that looks good enough on the rows", looks_good_enough, trap=True, **size)
