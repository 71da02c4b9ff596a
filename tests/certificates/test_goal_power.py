"""How often a goal is certified, how often falsely, and what is stated beside it, on drawn scores with known truth."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.goals import Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.goals.cut_goal import CutGoal
from abnet.certificates.meet_goal import meet
from abnet.certificates.rates_of_cut import rates_of_cut
from abnet.certificates.statements.answered_error import AnsweredErrorTest
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.precision import PrecisionBound
from abnet.certificates.statements.recall import RecallBound
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.thresholds import Candidates, cut_counts
from abnet.certificates.validation_scores import ValidationScores
from broken_promise import breaks

CLASSES = ("well", "ill")
TERMS = Terms(delta=0.1)
Sample = tuple[NDArray[np.float64], NDArray[np.intp]]


def seen(candidates: Candidates, scores: NDArray[np.float64], truth: NDArray[np.intp]) -> Evidence:
    marks = candidates.decisions[0].score(scores)
    return observe(ARGMAX(scores), truth, CLASSES, scores=marks, thresholds=candidates.thresholds)


# Power


def calibrated(rng: np.random.Generator, shape: str, n: int) -> Sample:
    """Scores ``2 P(ill) - 1`` that are true: confidences spread evenly, by a normal logit, or in two clusters."""
    sure = {
        "even": rng.random(n),
        "logit": np.abs(np.tanh(rng.normal(0.0, 1.5, n))),
        "clusters": np.where(rng.random(n) < 0.6, rng.uniform(0.95, 0.97, n), rng.uniform(0.2, 0.6, n)),
    }[shape]
    scores = sure * rng.choice([-1.0, 1.0], n)
    return scores, (rng.random(n) < 0.5 + 0.5 * scores).astype(np.intp)


def share_certified(goal: Goal, shape: str, *, surer: float = 1.0, held: int = 25, each: int = 20) -> float:
    """Share of `held` times `each` samples of 300 bound rows in which the goal is certified.

    Parameters
    ----------
    surer : float
        Exponent of the held scores: below 1, they are surer than those of the bound rows.
    """
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(held):
        scores, truth = calibrated(rng, shape, 300)
        candidates = goal.candidates(
            ValidationScores(np.sign(scores) * np.abs(scores) ** surer, truth), CLASSES, 300, TERMS
        )
        found += sum(
            goal.certify(seen(candidates, *calibrated(rng, shape, 300)), candidates, TERMS)[0] is not None
            for _ in range(each)
        )
    return found / (held * each)


@pytest.mark.parametrize(
    ("goal", "shape", "least"),
    [
        (TargetError(0.2), "even", 0.96),
        (TargetError(0.2), "logit", 0.99),
        (TargetError(0.1), "clusters", 0.97),
        (TargetError(0.05), "clusters", 0.65),
        (TargetPrecision(0.8, "ill"), "logit", 0.99),
        (TargetPrecision(0.9, "ill"), "clusters", 0.9),
        (TargetRecall(0.9, "ill"), "logit", 0.99),
    ],
)
def test_a_goal_that_can_be_met_is_certified(goal: Goal, shape: str, least: float) -> None:
    assert share_certified(goal, shape) >= least


def test_surer_held_scores_do_not_spoil_the_first_test() -> None:
    """Then few bound rows are above a strict threshold, which used to be tested first."""
    assert share_certified(TargetError(0.3), "logit", surer=0.5, held=10) == 1.0
    assert share_certified(TargetError(0.15), "clusters", surer=0.9, held=10) >= 0.95


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    for goal in (TargetError(0.1), TargetPrecision(0.85, "ill"), TargetRecall(0.9, "ill")):
        held, (scores, truth) = ValidationScores(*calibrated(rng, "logit", 300)), calibrated(rng, "logit", 300)
        by_label = np.lexsort((scores, truth))
        given = meet(goal, held, scores, truth, CLASSES, TERMS, keys=np.arange(300))
        assert given == meet(goal, held, scores[by_label], truth[by_label], CLASSES, TERMS, keys=np.arange(300))
        turned = ValidationScores(held.scores[::-1], held.codes[::-1])
        assert given == meet(goal, turned, scores, truth, CLASSES, TERMS, keys=np.arange(300))


# False certificates


def at_the_limit(rng: np.random.Generator, kind: str, n: int) -> Sample:
    """Rows for which (nearly) every certificate is false, so that as many as δ allows are expected."""
    scores = rng.uniform(-1.0, 1.0, n)
    if kind == "error":  # 10% errors at every threshold
        return scores, ((scores >= 0) ^ (rng.random(n) < 0.1001)).astype(np.intp)
    if kind == "precision":  # 85% at every threshold
        return scores, (rng.random(n) < 0.8499).astype(np.intp)
    ill = (rng.random(n) < 0.5).astype(np.intp)
    return np.where(ill == 1, 0.5 + 0.5 * scores, 0.65 * scores - 0.35), ill  # of the ill, 1 - t are above t


LIMITS: dict[str, Goal] = {
    "error": TargetError(0.1), "precision": TargetPrecision(0.85, "ill"), "recall": TargetRecall(0.9, "ill"),
}  # fmt: skip


def is_false(kind: str, decision: Decision | None) -> bool:
    if decision is None:
        return False
    assert decision.threshold is not None
    return kind != "recall" or decision.threshold > 0.1


HELD = 20
EACH = 50


def n_false(kind: str, settle: Any, *, terms: Terms = TERMS) -> int:
    rng = np.random.default_rng(3)
    goal = LIMITS[kind]
    found = 0
    for _ in range(HELD):
        candidates = goal.candidates(ValidationScores(*at_the_limit(rng, kind, 3000)), CLASSES, 400, terms)
        found += sum(is_false(kind, settle(goal, candidates, at_the_limit(rng, kind, 400), terms)) for _ in range(EACH))
    return found


def is_caught(kind: str, settle: Any, *, terms: Terms = TERMS) -> bool:
    return breaks(n_false(kind, settle, terms=terms), HELD * EACH, TERMS.delta)


def as_it_is(goal: Goal, candidates: Candidates, sample: Sample, terms: Terms) -> Decision | None:
    """The last threshold that passed: any of them may be selected."""
    return goal.certify(
        seen(candidates, *sample), replace(candidates, merits=tuple(range(len(candidates.decisions)))), terms
    )[0]


def without_stopping(goal: Goal, candidates: Candidates, sample: Sample, terms: Terms) -> Decision | None:
    """A mutant: go on after a failure."""
    scores, truth = sample
    if isinstance(goal, TargetError):
        failing = ARGMAX(scores) != truth
        limit = 0.1
    else:
        failing = truth == 0
        limit = 0.15
    above = candidates.decisions[0].score(scores) > np.array(candidates.thresholds)[:, None]
    passed = binom.cdf((above & failing).sum(axis=1), above.sum(axis=1), limit) <= terms.delta
    if passed.any():
        return candidates.decisions[0]
    return None


@pytest.mark.parametrize("kind", LIMITS)
def test_false_certificates_are_as_rare_as_promised(kind: str) -> None:
    assert not is_caught(kind, as_it_is)


@pytest.mark.parametrize("kind", LIMITS)
def test_twice_the_rate_is_caught(kind: str) -> None:
    assert is_caught(kind, as_it_is, terms=Terms(delta=2 * TERMS.delta))


@pytest.mark.parametrize("kind", ["error", "precision"])
def test_a_sequence_that_does_not_stop_is_caught(kind: str) -> None:
    assert is_caught(kind, without_stopping)


# What is stated beside the goal


def spread(rng: np.random.Generator, n: int) -> Sample:
    """Even scores with ``P(ill) = (1 + score)/2``: every rate has a closed form."""
    scores = rng.uniform(-1.0, 1.0, n)
    return scores, (rng.random(n) < 0.5 + 0.5 * scores).astype(np.intp)


def true_rates(t: float) -> dict[str, float]:
    """True rates of the rule "ill above t"."""
    t = min(max(t, -1.0), 1.0)
    flagged = (1 - t) / 2
    right = (1 - t) / 2 * (3 + t) / 4
    error = flagged - right + 0.5 - right
    return {"flagged": flagged, "recall": 2 * right, "precision": (3 + t) / 4, "error": error}


def n_wrong_somewhere(goal: Goal, *, paid: bool) -> int:
    """Samples in which a limit fails at one of every fourth of the thresholds that may be selected."""
    rng = np.random.default_rng(4)
    found = 0
    n_thresholds = 1
    for _ in range(5):
        candidates = goal.candidates(ValidationScores(*spread(rng, 300)), CLASSES, 300, TERMS)
        records = np.flatnonzero(np.diff(np.maximum.accumulate(candidates.merits), prepend=-1.0))
        assert len(records) == candidates.n_selectable
        if paid:
            n_thresholds = len(records)
        selectable = [candidates.decisions[place] for place in records[::4]]
        for _ in range(SAMPLES // 5):
            evidence = seen(candidates, *spread(rng, 300))
            found += any(fails(decision, evidence, n_thresholds) for decision in selectable)
    return found


def fails(decision: Decision, evidence: Evidence, n_thresholds: int) -> bool:
    """Whether the limit of the error is wrong."""
    assert decision.threshold is not None
    counts = cut_counts(evidence, decision)
    rule = CutRule.of(decision, CLASSES)
    made = rates_of_cut(counts, rule, delta=TERMS.delta, n_candidates=1, n_thresholds=n_thresholds)
    (error,) = (bound for bound in made if isinstance(bound, CutError))
    return true_rates(decision.threshold)["error"] > (error.value or 0.0)


SAMPLES = 200

RATES_OF: dict[type[Statement], str] = {
    Flagged: "flagged", RecallBound: "recall", PrecisionBound: "precision", CutError: "error"
}  # fmt: skip


def test_limits_hold_at_every_threshold_that_may_be_selected() -> None:
    goal = TargetPrecision(0.7, "ill")
    assert not breaks(n_wrong_somewhere(goal, paid=True), SAMPLES, TERMS.delta)
    assert breaks(n_wrong_somewhere(goal, paid=False), SAMPLES, TERMS.delta)  # without paying for the choice


@pytest.mark.parametrize("goal", [TargetRecall(0.8, "ill"), TargetPrecision(0.7, "ill")])
def test_what_is_stated_beside_a_goal_holds(goal: CutGoal) -> None:
    rng = np.random.default_rng(5)
    wrong = dict.fromkeys(true_rates(0.0), 0)
    certified = 0
    for _ in range(10):
        candidates = goal.candidates(ValidationScores(*spread(rng, 300)), CLASSES, 300, TERMS)
        for _ in range(30):
            decision, (_, *beside) = goal.certify(seen(candidates, *spread(rng, 300)), candidates, TERMS)
            if decision is None:
                continue
            certified += 1
            true = true_rates(float(decision.threshold or 0.0))
            for s in beside:
                assert s.check() == "recomputed"
                assert s.value is not None
                assert s.n_candidates == candidates.n_selectable
                name = RATES_OF[type(s)]
                if s.side == "at most":
                    wrong[name] += true[name] > s.value
                else:
                    wrong[name] += true[name] < s.value
            assert {type(s) for s in beside} == set(RATES_OF) - {goal.statement_type().rate_bound}
    assert certified > 150
    assert not breaks(max(wrong.values()), 300, TERMS.delta)


# How many rows would be needed


def test_the_rows_that_would_be_needed_are_enough_in_four_of_five_samples() -> None:
    goal = TargetError(0.05)
    rng = np.random.default_rng(6)
    candidates = goal.candidates(ValidationScores(*calibrated(rng, "clusters", 5000)), CLASSES, 120, TERMS)
    outcomes = [goal.certify(seen(candidates, *calibrated(rng, "clusters", 120)), candidates, TERMS) for _ in range(10)]
    statement = next(made for decision, (made, *_) in outcomes if decision is None)
    assert isinstance(statement, AnsweredErrorTest)
    needed = statement.rows_needed
    assert needed is not None
    assert 100 < needed < 1000
    passed = sum(
        goal.certify(seen(candidates, *calibrated(rng, "clusters", needed)), candidates, TERMS)[0] is not None
        for _ in range(200)
    )
    assert 0.6 < passed / 200 < 0.95
