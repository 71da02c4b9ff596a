"""The certified error under a tolerance: it keeps its promise, and what forgets moving cells does not."""

import numpy as np
import pytest
from numpy.typing import NDArray

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.statements.tolerated_error import ToleratedError
from abnet.certificates.terms import Terms
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.robustness.certified_rows import certify_tolerance, robustness
from abnet.robustness.robust_rows import RobustRows, robust_rows
from broken_promise import breaks

DELTA = 0.1
N = 120
REPETITIONS = 400
POPULATION = 1500


@pytest.fixture(scope="module")
def world() -> tuple[Model, RobustRows, NDArray[np.int64]]:
    """A finite population that rows are drawn from, so that the true rate is known."""
    rng = np.random.default_rng(4)
    model = Model(Compact(3 * np.eye(2)[None], np.zeros((1, 2)), np.array([[-1.0, 1.0, 1.0, -1.0]])))  # exclusive or
    X = rng.normal(size=(POPULATION, 2))
    y = np.where(rng.random(POPULATION) < 0.1, -model.predict(X), model.predict(X))
    return model, robust_rows(model, X, tolerance=0.1, nodes=30), y


def part(rows: RobustRows, places: NDArray[np.int64]) -> RobustRows:
    return RobustRows(tuple(rows.rows[place] for place in places), rows.tolerance, rows.nodes)


@pytest.mark.parametrize("sorted_rows", [False, True])
@pytest.mark.parametrize("forgetful", [False, True], ids=["promise", "mutant"])
def test_the_promise(world: tuple[Model, RobustRows, NDArray[np.int64]], forgetful: bool, sorted_rows: bool) -> None:
    """The mutant counts errors of the rows as they are, and claims the rate under the tolerance."""
    model, rows, y = world
    answers = np.array([row.answer for row in rows.rows])
    flips = np.array([row.verdict == "flipped" for row in rows.rows])
    truth = float(np.mean((answers != y) | flips))
    failures = 0
    for repetition in range(REPETITIONS):
        places = np.random.default_rng([8, repetition]).integers(POPULATION, size=N)
        if sorted_rows:
            places = np.sort(places)
        judged = judge_answers(y[places], answers[places], known=(-1, 1))
        bound = clopper_pearson_bound(int(judged.wrong.sum()), N, DELTA)
        if not forgetful:
            made = certify_tolerance(model, judged, part(rows, places), Terms(delta=DELTA, source="test set"))
            statement = made.statements[0]
            assert statement.value is not None
            bound = statement.value
        failures += bound < truth
    assert breaks(failures, REPETITIONS, DELTA) == forgetful


def test_the_certificate_counts_what_is_not_proved(world: tuple[Model, RobustRows, NDArray[np.int64]]) -> None:
    model = world[0]
    X = np.random.default_rng(1).normal(size=(200, 2))
    labels = model.predict(X)
    found = robustness(model, X, labels, tolerance=0.1)
    assert found.certificate is not None
    (statement,) = found.certificate.each(ToleratedError)
    assert (statement.errors, statement.unproved) == (0, 200 - found.rows.count("robust"))
    assert statement.unproved > 5
    assert Certificate.from_dict(found.certificate.to_dict()) == found.certificate
    record = found.certificate.to_dict()
    record["statements"][0]["unproved"] = 0
    with pytest.raises(ValueError, match="tolerance"):
        Certificate.from_dict(record)
    assert robustness(model, X, tolerance=0.1).certificate is None
    assert model.robustness(X, labels, tolerance=0.1).certificate == found.certificate


def test_training_rows_are_refused() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    model = abnet.CertifiedClassifier((2,), max_iter=5, random_state=0).fit(X, y).model_
    with pytest.raises(ValueError, match="fitted on"):
        model.robustness(X, y, tolerance="1%sd")
