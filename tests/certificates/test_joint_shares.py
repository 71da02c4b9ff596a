"""Statements that share δ: each is computed at its share, and all of them are true with probability 1-δ."""

from typing import Any

import msgspec
import numpy as np
import pytest

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.shares import shares_by_count
from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.chosen_cut import ChosenPrecision
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.statements.recall import RecallTest
from broken_promise import breaks

DELTA = 0.1
RNG = np.random.default_rng(0)
LABELS = RNG.integers(2, size=400)
ANSWERS = np.where(RNG.random(400) < 0.1, 1 - LABELS, LABELS)[:, None]
PLACES = RNG.integers(3, size=400)


def first(X: Any) -> Any:
    return X[:, 0]


def certified(joint: Any) -> Any:
    return abnet.certify(first, ANSWERS, LABELS, by=PLACES, delta=DELTA, joint=joint)


def test_each_statement_has_its_share_and_the_rest_the_whole() -> None:
    made = certified({"error rate": 0.7, "classes": 0.3})
    errors = int(np.sum(ANSWERS[:, 0] != LABELS))
    overall = made.find(ErrorBound)
    assert overall.value == clopper_pearson_bound(errors, 400, overall.delta)
    assert overall.delta == pytest.approx(0.07)
    shares = shares_by_count(np.bincount(LABELS).tolist(), 0.03)
    assert [made.find(ErrorBound, label).delta for label in "01"] == pytest.approx(shares)
    alone = certified(None)
    assert made.each(PopulationError) == alone.each(PopulationError)
    assert alone.shares == {}
    assert "shares" not in alone.to_dict()
    words = " ".join(str(made).split())
    assert "hold jointly with 90% confidence: error rate; classes" in words
    assert "All of these statements" in str(certified(["error rate", "classes", "populations"])).replace("\n", " ")
    assert Certificate.from_dict(made.to_dict()) == made


def test_a_file_cannot_claim_more_than_delta() -> None:
    made = certified(["error rate", "classes"])
    for shares in ({"error rate": 1.0, "classes": 0.5}, {}, {"error rate": 0.5}, {"nothing": 0.5, "classes": 0.5}):
        with pytest.raises(ValueError, match=r"δ|delta"):
            msgspec.structs.replace(made, shares=shares).check()


@pytest.mark.parametrize(
    "joint", [["error rate"], ["error rate", "error rate"], {"error rate": 0.8, "classes": 0.4}, {"a": -1.0, "b": 0.5}]
)
def test_bad_shares_are_refused(joint: Any) -> None:
    with pytest.raises(ValueError, match="joint"):
        certified(joint)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="populations"):
        certified(["error rate", "groups"])


def test_a_goal_is_tested_at_its_share_and_others_are_about_the_same_threshold() -> None:
    rng = np.random.default_rng(1)
    ill = rng.random(3000) < 0.4
    scores = rng.normal(size=3000) + 2.5 * ill
    labels = np.where(ill, "ill", "well")
    goal = abnet.TargetRecall(0.9, positive="ill")
    names = ["recall of ill", "precision for ill", "error rate of the decision rule"]
    made = abnet.certify_scores(scores, labels, goal, delta=DELTA, joint=names, random_state=0)
    test = made.find(RecallTest, "ill")
    assert test is not None
    assert test.value == 0.9
    assert test.delta == pytest.approx(DELTA / 3)
    rules = {getattr(statement, "rule", None) for statement in made.statements}
    assert rules == {test.rule}
    precision = made.each(ChosenPrecision)[0]
    assert precision.delta == pytest.approx(DELTA / 3)
    made.check()
    unmet = abnet.certify_scores(
        scores, labels, abnet.TargetRecall(0.9999, positive="ill"), delta=DELTA, joint=names, random_state=0
    )
    assert unmet.statements[0].value is None
    unmet.check()


@pytest.mark.parametrize("joint", [True, False])
def test_promise(joint: bool) -> None:
    """The trap: bounds that each hold by themselves, read as joint."""
    rng = np.random.default_rng(2)
    samples = 200
    false = 0
    for _ in range(samples):
        y = rng.integers(2, size=600)
        where = rng.integers(6, size=600)
        answers = np.where(rng.random(600) < 0.2, 1 - y, y)[:, None]
        names = None
        if joint:
            names = ["error rate", "classes", "populations"]
        made: Any = abnet.certify(first, answers, y, by=where, delta=DELTA, joint=names)
        statements = (*made.each(ErrorBound), *made.each(PopulationError))
        false += any(statement.value < 0.2 for statement in statements)
    assert breaks(false, samples, DELTA) != joint
