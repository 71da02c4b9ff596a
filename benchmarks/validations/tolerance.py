"""Error under a tolerance to errors in cells: the certificate of `model.robustness(X, y, tolerance=...)`.

Rows are drawn from a finite population, so the true rate is known: of each of its rows, branch and bound found either
a point within the tolerance that flips the label, or a proof that there is none.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.terms import Terms
from abnet.model import Model
from abnet.model.predictors.compact import Compact
from abnet.robustness.certified_rows import certify_tolerance
from abnet.robustness.robust_rows import RobustRows, robust_rows
from simulation import Simulation, repeated

DELTA = 0.1
ROWS = 150
REPETITIONS = 1_000
POPULATION = 1_500
TOLERANCE = 0.1
NETWORK = Model(Compact(3 * np.eye(2)[None], np.zeros((1, 2)), np.array([[-1.0, 1.0, 1.0, -1.0]])))
Array = NDArray[Any]


@cache
def population() -> tuple[Array, Array]:
    """Rows, and labels that the network gets wrong with a rate of 10%."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(POPULATION, 2))
    answers = NETWORK.predict(X)
    return X, np.where(rng.random(POPULATION) < 0.1, -answers, answers)


@cache
def decided(tolerance: float) -> RobustRows:
    """Every row of the population under a tolerance."""
    return robust_rows(NETWORK, population()[0], tolerance=tolerance, nodes=60)


@cache
def true_rate(tolerance: float) -> float:
    """Share of the population that is wrong, or that some point within the tolerance flips."""
    rows = decided(tolerance).rows
    _, y = population()
    wrong = [row.answer != label or row.verdict == "flipped" for row, label in zip(rows, y, strict=True)]
    return float(np.mean(wrong))


def draw(rng: np.random.Generator, sort: bool = False) -> Array:
    places = rng.integers(POPULATION, size=ROWS)
    if sort:
        places = places[np.argsort(population()[1][places], kind="stable")]
    return places


def fails(rng: np.random.Generator, claimed: float = TOLERANCE, sort: bool = False) -> bool:
    """The certificate at the declared tolerance, against the rate at the tolerance that it is quoted for."""
    places = draw(rng, sort)
    rows = decided(TOLERANCE)
    part = RobustRows(tuple(rows.rows[place] for place in places), rows.tolerance, rows.nodes)
    answers = np.array([row.answer for row in part.rows])
    judged = judge_answers(population()[1][places], answers, known=(-1, 1))
    (statement,) = certify_tolerance(NETWORK, judged, part, Terms(delta=DELTA, source="test set")).statements
    assert statement.value is not None
    return bool(statement.value < true_rate(claimed))


def cells_do_not_move(rng: np.random.Generator) -> bool:
    """Errors on the rows as they are, quoted for cells that are off."""
    places = draw(rng)
    wrong = NETWORK.predict(population()[0][places]) != population()[1][places]
    return clopper_pearson_bound(int(wrong.sum()), ROWS, DELTA) < true_rate(TOLERANCE)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("cells off by up to 0.1", fails, **size)
    yield repeated("rows sorted by label", lambda rng: fails(rng, sort=True), **size)
    yield repeated("the plain error rate quoted for it", cells_do_not_move, trap=True, **size)
    yield repeated("cells off by twice what was declared", lambda rng: fails(rng, 2 * TOLERANCE), trap=True, **size)
