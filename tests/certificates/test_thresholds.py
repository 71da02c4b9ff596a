"""Thresholds lie between scores: the last bit of a score decides nothing, and ties stay together."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.certificates.decision import cuts_between
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.meet_goal import meet
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores

Array = NDArray[np.float64]
CLASSES = ("well", "ill")
GOALS: dict[str, Goal] = {
    "abstaining": TargetError(0.05), "recall": TargetRecall(0.9, "ill"), "precision": TargetPrecision(0.9, "ill"),
    "costs": Costs([[0.0, 1.0], [3.0, 0.0]]),
}  # fmt: skip


def thresholds_of(kind: str, s: Array, y: NDArray[np.bool_]) -> list[float]:
    """In the order in which they are tested; without the one that answers every row."""
    candidates = GOALS[kind].candidates(ValidationScores(s, y.astype(int)), CLASSES, 1000, Terms())
    return [t for d in candidates.decisions if (t := d.threshold) is not None and t != -1.0]


def world(rng: np.random.Generator, *, tied: bool) -> tuple[Array, NDArray[np.bool_]]:
    """Scores of 400 rows, all different or of 20 values; the score speaks for the positive class."""
    s = rng.uniform(-1.0, 1.0, 400)
    return (np.round(s, 1) if tied else s), rng.uniform(-1.0, 1.0, 400) < s


@pytest.mark.parametrize("tied", [False, True], ids=["different", "tied"])
@pytest.mark.parametrize("kind", GOALS)
def test_the_last_bits_of_a_score_decide_nothing(rng: np.random.Generator, kind: str, tied: bool) -> None:
    """A row that is scored by itself may differ by a few units of the last place from the same row among others."""
    s, y = world(rng, tied=tied)
    own = s
    if kind == "abstaining":
        own = np.abs(s)
    thresholds = thresholds_of(kind, s, y)
    for moved in (own * (1 + 1e-14), own * (1 - 1e-14), own + 1e-14, own - 1e-14):
        assert all(np.array_equal(moved > t, own > t) for t in thresholds)


@pytest.mark.parametrize("kind", GOALS)
def test_scores_that_rounding_has_split_are_one(rng: np.random.Generator, kind: str) -> None:
    s, y = world(rng, tied=True)
    noisy = s + rng.uniform(-1e-15, 1e-15, len(s))
    np.testing.assert_allclose(thresholds_of(kind, noisy, y), thresholds_of(kind, s, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scores", [[0.0, 0.0], [3.0], [-1e300, 1e300], [1e-12, 1.0, 0.3], [-2.0, -1.0]], ids=str)
def test_every_cut_lies_between(scores: list[float]) -> None:
    cuts = cuts_between(scores)
    assert cuts[0] < min(scores) <= max(scores) < cuts[-1]
    assert np.all(np.diff(cuts) > 0)
    assert np.all(np.isfinite(cuts))
    assert not np.isin(scores, cuts).any()


@pytest.mark.parametrize("kind", GOALS)
def test_a_threshold_has_no_more_digits_than_its_gap_asks_for(rng: np.random.Generator, kind: str) -> None:
    s, y = world(rng, tied=False)
    own = np.unique(np.abs(s) if kind == "abstaining" else s)
    for t in thresholds_of(kind, s, y):
        if own[0] < t < own[-1]:
            inner = own[(own < t).sum() - 1 : (own < t).sum() + 1]
        else:
            inner = np.array([0.0, 0.01])
        decimals = len(repr(float(t)).partition(".")[2])
        assert decimals <= max(np.ceil(-np.log10(np.diff(inner)[0] / 2)), 1)


@pytest.mark.parametrize("kind", GOALS)
def test_the_threshold_in_words_is_the_one_that_was_certified(rng: np.random.Generator, kind: str) -> None:
    """Rounded to four digits, it answered other rows than those that were certified."""
    s = rng.uniform(-1.0, 1.0, 1600)
    y = (s + rng.normal(scale=0.1, size=1600) > 0.0).astype(int)
    decision, (made, *_) = meet(
        GOALS[kind], ValidationScores(s[:800], y[:800]), s[800:], y[800:], CLASSES, Terms(), keys=np.arange(800)
    )
    assert decision is not None
    facts = Facts.of(observe(y[800:], y[800:], CLASSES), Terms())
    (said,) = re.findall(r"above (-?[\d.e-]+) are", made.sentence(facts))
    assert float(said) == decision.threshold


@pytest.mark.parametrize("kind", ["abstaining", "precision"])
def test_equal_scores_at_the_top_are_where_a_sequence_begins(kind: str) -> None:
    """Half of the rows have the largest score: a threshold above all rows would never pass."""
    s = np.concatenate([np.ones(200), np.linspace(0.0, 0.9, 200)])
    assert thresholds_of(kind, s, s > 0.5)[0] < 1.0


@pytest.mark.parametrize("worst", [0.06, 0.5])
def test_the_first_threshold_has_rows_enough_to_pass(rng: np.random.Generator, worst: float) -> None:
    """The error falls from `worst` to 0: the more errors there are, the fewer rows are above the first threshold."""
    s = rng.random(4000)
    truth = (rng.random(4000) >= worst * (1.0 - s)).astype(int)
    first = (
        GOALS["abstaining"]
        .candidates(ValidationScores(s, truth), CLASSES, 300, Terms(delta=0.1))
        .decisions[0]
        .threshold
    )
    assert first is not None
    above = np.mean(s > first)
    assert 300 * above >= 45  # 0.95^45 < 0.1
    assert worst * above / 2 < 0.04  # the error among them
    assert above > 0.35 if worst == 0.06 else above < 0.25
