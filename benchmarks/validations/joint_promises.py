"""Several promises at once: statements that share δ are all true with probability at least 1-δ."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

import abnet
from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.statements.precision import PrecisionBound
from abnet.certificates.statements.recall import RecallTest
from simulation import Simulation, repeated

DELTA = 0.05
REPETITIONS = 1_000
ROWS = 1_000
ERRORS = np.array([0.1, 0.2, 0.3])
POPULATIONS = np.array([0.5, 1.0, 1.5])
"""Error rates of three classes, and by how much three populations multiply them."""
UNITS = ["error rate", "classes", "populations"]
Array = NDArray[Any]
Joint = list[str] | dict[str, float] | None


def certified(rng: np.random.Generator, joint: Joint) -> Certificate:
    """The error rate of a fixed classifier over all rows, by class and by population."""
    y = rng.integers(3, size=ROWS)
    population = rng.integers(3, size=ROWS)
    wrong = rng.random(ROWS) < ERRORS[y] * POPULATIONS[population]
    answers = np.where(wrong, (y + 1) % 3, y)[:, None]
    made = abnet.certify(lambda X: X[:, 0].astype(int), answers, y, by=population, delta=DELTA, joint=joint)
    assert isinstance(made, Certificate)
    return made


def any_false(made: Certificate) -> bool:
    """Whether any of the statements is false."""
    for error in made.each(ErrorBound):
        true = ERRORS.mean()
        if error.label is not None:
            true = ERRORS[int(error.label)]
        if error.value is not None and error.value < true:
            return True
    for part in made.each(PopulationError):
        if part.value is not None and part.value < POPULATIONS[int(part.population)] * ERRORS.mean():
            return True
    return False


ILL = 0.4


def of_scores(rng: np.random.Generator, joint: Joint) -> bool:
    """Whether any of recall, precision, flagged share and error of a certified threshold is false.

    The scores of both classes are normal with means 1 and -1.
    """
    is_ill = rng.random(ROWS) < ILL
    scores = rng.normal(size=ROWS) + np.where(is_ill, 1.0, -1.0)
    labels = np.where(is_ill, "ill", "well")
    goal = abnet.TargetRecall(0.8, positive="ill")
    seed = int(rng.integers(2**31))
    made = abnet.certify_scores(scores, labels, goal, delta=DELTA, joint=joint, random_state=seed)
    test = made.find(RecallTest, "ill")
    assert test is not None
    if test.value is None:
        return False
    threshold = test.rule.threshold
    recall = norm.sf(threshold - 1.0)
    false_alarms = norm.sf(threshold + 1.0)
    flagged = ILL * recall + (1 - ILL) * false_alarms
    true: dict[Any, float] = {
        PrecisionBound: ILL * recall / flagged,
        Flagged: flagged,
        CutError: ILL * (1 - recall) + (1 - ILL) * false_alarms,
    }
    if recall < test.value:
        return True
    for kind, rate in true.items():
        statement: Any = made.each(kind)[0]
        if (statement.side == "at least" and statement.value > rate) or (
            statement.side == "at most" and statement.value < rate
        ):
            return True
    return False


RULE_UNITS = ["recall of ill", "precision for ill", "share of rows predicted as ill", "error rate of the decision rule"]


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    shares = {"error rate": 0.6, "classes": 0.2, "populations": 0.2}
    yield repeated("error, classes and populations", lambda rng: any_false(certified(rng, UNITS)), **size)
    yield repeated("the same with shares of 60%, 20%, 20%", lambda rng: any_false(certified(rng, shares)), **size)
    yield repeated("recall, precision, flagged and error", lambda rng: of_scores(rng, RULE_UNITS), **size)
    yield repeated("each by itself, read as joint", lambda rng: any_false(certified(rng, None)), trap=True, **size)
