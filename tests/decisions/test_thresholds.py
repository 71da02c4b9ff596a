"""Thresholds lie between scores: the last bit of a score decides nothing, and ties stay together."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.decisions import cheapest_threshold, precision_grid, recall_grid, score_thresholds, specificity_grid
from abnet.decisions.answers import abstention_records, meet_costs, meet_target
from abnet.decisions.thresholds import cuts_between

Array = NDArray[np.float64]
COSTS = [[0.0, 1.0], [3.0, 0.0]]

GRIDS: dict[str, Callable[[Array, NDArray[np.bool_]], tuple[float, ...]]] = {
    "abstaining": lambda s, y: score_thresholds(np.abs(s), 300, 0.05)[:-1],
    "recall": lambda s, y: recall_grid(s, y, 0.9).thresholds,
    "precision": lambda s, y: precision_grid(s, y, 1000, 0.9).thresholds,
    "specificity": lambda s, y: specificity_grid(s, y, 0.9).thresholds,
    "costs": lambda s, y: (cheapest_threshold(s, y, COSTS),),
}


def world(rng: np.random.Generator, *, tied: bool) -> tuple[Array, NDArray[np.bool_]]:
    """Scores of 400 rows, all different or of 20 values; the score speaks for the positive class."""
    s = rng.uniform(-1.0, 1.0, 400)
    return (np.round(s, 1) if tied else s), rng.uniform(-1.0, 1.0, 400) < s


@pytest.mark.parametrize("tied", [False, True], ids=["different", "tied"])
@pytest.mark.parametrize("kind", GRIDS)
def test_the_last_bits_of_a_score_decide_nothing(rng: np.random.Generator, kind: str, tied: bool) -> None:
    """A row that is scored by itself may differ by a few units of the last place from the same row among others."""
    s, y = world(rng, tied=tied)
    own = np.abs(s) if kind == "abstaining" else s
    thresholds = GRIDS[kind](s, y)
    for moved in (own * (1 + 1e-14), own * (1 - 1e-14), own + 1e-14, own - 1e-14):
        assert all(np.array_equal(moved > t, own > t) for t in thresholds)


@pytest.mark.parametrize("kind", GRIDS)
def test_scores_that_rounding_has_split_are_one(rng: np.random.Generator, kind: str) -> None:
    s, y = world(rng, tied=True)
    noisy = s + rng.uniform(-1e-15, 1e-15, len(s))
    np.testing.assert_allclose(GRIDS[kind](noisy, y), GRIDS[kind](s, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scores", [[0.0, 0.0], [3.0], [-1e300, 1e300], [1e-12, 1.0, 0.3], [-2.0, -1.0]], ids=str)
def test_every_cut_lies_between(scores: list[float]) -> None:
    cuts = cuts_between(scores)
    assert cuts[0] < min(scores) <= max(scores) < cuts[-1]
    assert np.all(np.diff(cuts) > 0)
    assert np.all(np.isfinite(cuts))
    assert not np.isin(scores, cuts).any()


@pytest.mark.parametrize("kind", GRIDS)
def test_a_threshold_has_no_more_digits_than_its_gap_asks_for(rng: np.random.Generator, kind: str) -> None:
    s, y = world(rng, tied=False)
    own = np.unique(np.abs(s) if kind == "abstaining" else s)
    for t in GRIDS[kind](s, y):
        inner = own[(own < t).sum() - 1 : (own < t).sum() + 1] if own[0] < t < own[-1] else np.array([0.0, 0.01])
        decimals = len(repr(float(t)).partition(".")[2])
        assert decimals <= max(np.ceil(-np.log10(np.diff(inner)[0] / 2)), 1)


@pytest.mark.parametrize("kind", ["recall", "precision", "costs", "abstaining"])
def test_the_threshold_in_words_is_the_one_that_was_certified(rng: np.random.Generator, kind: str) -> None:
    """Rounded to four digits, it answered other rows than those that were certified."""
    s = rng.uniform(-1.0, 1.0, 800)
    y = s + rng.normal(scale=0.3, size=800) > 0.0
    known, bound = (s[:400], y[:400]), (s[400:], y[400:])
    made: Any
    if kind == "abstaining":
        made = abstention_records(known[0], bound[0], (bound[0] > 0) != bound[1], 0.1)[0]
    elif kind == "costs":
        made = meet_costs(known, bound, COSTS)
    else:
        wanted: Any = {kind: 0.8}
        made = meet_target(known, bound, **wanted)
    (said,) = re.findall(r"above (-?[\d.e-]+) are", " ".join(made.describe().split()))
    assert float(said) == made.threshold


def test_equal_scores_at_the_top_are_where_a_sequence_begins() -> None:
    """Half of the rows have the largest score: a threshold above all rows would never pass."""
    s = np.concatenate([np.ones(200), np.linspace(0.0, 0.9, 200)])
    assert score_thresholds(s, 400, 0.05)[0] < 1.0
    assert precision_grid(s, s > 0.5, 400, 0.95).thresholds[0] < 1.0
