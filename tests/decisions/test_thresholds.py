"""Thresholds lie between scores: the last bit of a score decides nothing, and ties stay together."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.decisions import cheapest_threshold, precision_grid, recall_grid, score_thresholds, specificity_grid
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
