"""`decision` of `CertifiedClassifier`: thresholds come from the training rows."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet.certificates.decision import ARGMAX
from abnet.certificates.describe import rule_table
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.statements.answered_error import AnsweredErrorTest
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from estimators.worlds import certified

RNG = np.random.default_rng(3)
ILL = RNG.random(500) < 0.4
X = RNG.normal(size=(500, 3)) + np.outer(ILL, [2.5, 0.0, 0.0])
Y = np.where(ILL, "ill", "well")
COSTS = {("ill", "well"): 10.0, ("well", "ill"): 1.0}


def fit(decision: Goal, labels: Any = Y, max_iter: int = 30) -> Any:
    return certified(0, max_iter=max_iter, decision=decision).fit(X, labels)


@pytest.mark.parametrize("positive", ["ill", "well"])
@pytest.mark.parametrize("kind", ["recall", "precision"])
def test_targets(kind: str, positive: str, tmp_path: Path) -> None:
    clf = fit((TargetRecall if kind == "recall" else TargetPrecision)(0.8, positive=positive))
    made = clf.certificate_.find(RecallTest if kind == "recall" else PrecisionTest, positive)
    assert made.value == 0.8
    assert made.rule == CutRule(threshold=clf.model_.decision.threshold, called=positive)
    answers = clf.predict(X)
    bound = clf.bound_rows_
    called = answers[bound] == positive
    true = Y[bound] == positive
    counted = called
    if kind == "recall":
        counted = true
    assert made.trials == counted.sum()
    assert made.failures == (counted & ~(true & called)).sum()
    find = clf.certificate_.find
    wrong = int(np.sum(answers[bound] != Y[bound]))
    flagged = find(Flagged, positive)
    error = find(CutError, positive)
    assert (flagged.flagged, flagged.n) == (called.sum(), len(bound))
    assert (error.errors, error.n) == (wrong, len(bound))
    other, among = (PrecisionBound, called) if kind == "recall" else (RecallBound, true)
    beside = find(other, positive)
    assert (beside.successes, beside.n) == ((true & called).sum(), among.sum())
    assert beside.n_candidates > 1  # the threshold was chosen with the same rows
    assert {row[0]: row[2] for row in rule_table(clf.certificate_)[1:]}["error rate"].startswith(f"{wrong} of ")
    clf.save(tmp_path / "m.abnet")
    loaded = abnet.load(tmp_path / "m.abnet")
    assert loaded.decision == clf.model_.decision
    np.testing.assert_array_equal(loaded.predict(X), answers)
    assert loaded.certificate_ == clf.certificate_


def test_costs() -> None:
    clf = fit(Costs(COSTS))
    bound = clf.bound_rows_
    made = clf.certificate_.find(CostBound)
    answers = clf.predict(X[bound])
    each = [COSTS.get(pair, 0.0) for pair in zip(Y[bound], answers, strict=True)]
    assert 10.0 * made.mean == pytest.approx(np.mean(each))
    assert made.largest == 10.0
    # Missing an ill row is dear, so that more rows are called ill than by the vote.
    votes = clf.vote(X[bound])
    assert np.mean(answers == "ill") > np.mean(votes == "ill")
    error = clf.certificate_.find(ErrorBound)  # what is said about all rows is about the vote
    assert error.answers == "vote"
    assert error.errors == np.sum(votes != Y[bound])
    assert clf.certificate_.vote_error_bound == error.value


def test_thresholds_do_not_see_the_bound_labels(split_as: Any) -> None:
    split_as(X, Y)
    one = fit(Costs(COSTS))
    turned = Y.copy()
    turned[one.bound_rows_] = np.where(Y[one.bound_rows_] == "ill", "well", "ill")
    other = fit(Costs(COSTS), turned)
    assert one.model_.decision == other.model_.decision
    assert one.certificate_.find(CostBound).value < other.certificate_.find(CostBound).value


def test_trade_offs_are_those_of_the_held_rows_and_see_no_bound_label(split_as: Any, tmp_path: Path) -> None:
    split_as(X, Y)
    one = fit(TargetRecall(0.8, positive="ill"))
    scores = one.held_.scores
    ill = one.held_.codes == 0
    found = one.trade_off("ill")
    assert found.n_rows == len(ill)
    assert [p.recall for p in found.points] == sorted([p.recall for p in found.points], reverse=True)
    assert found.points[0].recall == 1.0
    for p in found.points:
        called = -scores > p.threshold
        assert p.share == pytest.approx(called.mean())
        assert p.recall == pytest.approx(called[ill].mean())
        assert p.precision == pytest.approx(ill[called].mean())
        assert p.error == pytest.approx(np.mean(called != ill))
    for p in one.trade_off().points:
        answered = np.abs(scores) > p.threshold
        assert (p.share, p.error) == pytest.approx((answered.mean(), np.mean((scores < 0)[answered] != ill[answered])))
    assert one.model_.card.trade_offs == (found, one.trade_off())
    one.save(tmp_path / "m.abnet")
    assert abnet.load(tmp_path / "m.abnet").card.trade_offs == one.model_.card.trade_offs
    turned = Y.copy()
    turned[one.bound_rows_] = np.where(Y[one.bound_rows_] == "ill", "well", "ill")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = fit(TargetRecall(0.8, positive="ill"), turned)
    assert other.trade_off("ill") == found
    with pytest.raises(ValueError, match="sick"):
        one.trade_off("sick")


def test_a_rule_that_flags_nearly_every_row_is_warned_of() -> None:
    noise = np.random.default_rng(4).normal(size=(500, 3))
    clf = certified(0, max_iter=5, decision=TargetRecall(0.9, positive="ill"))
    with pytest.warns(UserWarning, match="ill") as told:
        clf.fit(noise, Y)
    assert clf.model_.decision.kind == "cut"
    share = clf.certificate_.find(Flagged, "ill")
    assert share.flagged > 0.9 * share.n
    said = [str(one.message) for one in told if f"({share.flagged:,} of {share.n:,})" in str(one.message)]
    assert said
    assert "n_candidates=2" in said[0]  # another target would be chosen by what these rows show
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(TargetRecall(0.8, positive="ill"))


def test_several_classes_have_costs_but_no_threshold() -> None:
    labels = np.array(["a", "b", "c"])[RNG.integers(3, size=500)]
    clf = fit(Costs(np.ones((3, 3)) - np.eye(3)), labels, max_iter=1)
    bound = clf.bound_rows_
    made = clf.certificate_.find(CostBound)
    assert made.mean == pytest.approx(np.mean(clf.predict(X[bound]) != labels[bound]))
    assert clf.model_.decision.kind == "costs"
    np.testing.assert_array_equal(clf.vote(X), clf.predict(X))
    with pytest.raises(ValueError, match="positive_class"):
        fit(TargetRecall(0.9, positive="a"), labels, max_iter=1)


def test_what_was_not_certified_decides_nothing() -> None:
    clf = certified(0, max_iter=1, decision=TargetRecall(0.99, positive="ill"))
    with pytest.warns(UserWarning, match=r"99%.*class ill.*whether more held-out rows.*n_candidates=2"):
        clf.fit(X[:40], Y[:40])
    assert clf.model_.decision == ARGMAX
    made = clf.certificate_.find(RecallTest, "ill")
    assert made.value is None
    assert made.rows_needed is None or made.rows_needed > 20
    assert clf.certificate_.find(ErrorBound).answers == "predict"
    np.testing.assert_array_equal(clf.predict(X), clf.vote(X))


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (TargetRecall(0.9, positive="sick"), "positive_class.*'sick'.*ill, well"),
        (Costs({("ill", "well"): 10.0}), r"\bill\b.*\bwell\b"),
        (Costs({("ill", "sick"): 1.0}), "sick.*ill, well"),
        (Costs(np.eye(3)), r"costs.*\b2 classes"),
    ],
)
def test_targets_that_make_no_sense(decision: Goal, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(decision, max_iter=1)


def test_abstaining() -> None:
    clf = fit(TargetError(0.08))
    assert clf.model_.decision.kind == "abstain"
    answers = clf.predict(X)
    bound = clf.bound_rows_
    answered = np.array([answer is not None for answer in answers[bound]])
    made = clf.certificate_.find(AnsweredErrorTest)
    assert (made.value, made.trials) == (0.08, answered.sum())
    assert made.failures == np.sum(answers[bound][answered] != Y[bound][answered])
    assert not answered.all()
    np.testing.assert_array_equal(answers[bound][answered], clf.vote(X[bound])[answered])
    certificate = clf.certify(X + 0.01, Y)  # what predict answers is counted, and no answer is an error
    assert sum(certificate.facts.class_errors) == np.sum(clf.predict(X + 0.01) != Y)
    matrix = clf.confusion(X + 0.01, Y)
    assert {made.answer for made in matrix.statements} == {"ill", "well", "other or none"}
