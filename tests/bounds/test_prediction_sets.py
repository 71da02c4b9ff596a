"""Thresholds of prediction sets: the rank against binomial sums, and the promise about this one model."""

import math

import numpy as np
import pytest

from abnet.bounds.prediction_sets import rows_for_sets, set_rank
from broken_promise import breaks

DELTA = 0.1


def tail(k: int, n: int, alpha: float) -> float:
    return sum(math.comb(n, i) * alpha**i * (1 - alpha) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("delta", [0.05, 1e-4])
def test_rank_is_the_largest_that_the_tail_allows(alpha: float, delta: float) -> None:
    for n in (1, 5, 29, 60, 300):
        k = set_rank(n, alpha, delta)
        if k is None:
            assert tail(0, n, alpha) > delta
        else:
            assert tail(k, n, alpha) <= delta < tail(k + 1, n, alpha)


@pytest.mark.parametrize(("alpha", "delta"), [(0.1, 0.05), (0.05, 0.05), (0.01, 0.1), (0.9, 0.5)])
def test_rows_needed_are_the_fewest(alpha: float, delta: float) -> None:
    n = rows_for_sets(alpha, delta)
    assert set_rank(n, alpha, delta) is not None
    assert n == 1 or set_rank(n - 1, alpha, delta) is None
    assert rows_for_sets(0.1) == 29


def missed(rng: np.random.Generator, *, extra: int, decimals: int | None, repetitions: int = 1000) -> int:
    """How often the sets of a model miss more than α of the new rows; the score of the true class is uniform."""
    n = 120
    alpha = 0.1
    k = set_rank(n, alpha, DELTA)
    assert k is not None
    failures = 0
    for _ in range(repetitions):
        scores = np.sort(rng.random(n))
        if decimals is None:
            failures += scores[k + extra] > alpha
            continue
        # A rounded score is below t with the probability of the points that are rounded to a smaller one.
        threshold = np.round(scores[k + extra], decimals)
        failures += threshold - 0.5 * 10.0**-decimals > alpha
    return int(failures)


@pytest.mark.parametrize("decimals", [None, 2])
def test_promise_is_kept(rng: np.random.Generator, decimals: int | None) -> None:
    assert not breaks(missed(rng, extra=0, decimals=decimals), 1000, DELTA)


def test_the_marginal_quantile_breaks_it(rng: np.random.Generator) -> None:
    """The trap: the rank ⌊α(n+1)⌋ of conformal prediction keeps the promise on average over models only."""
    k = set_rank(120, 0.1, DELTA)
    assert k is not None
    assert breaks(missed(rng, extra=math.floor(0.1 * 121) - 1 - k, decimals=None), 1000, DELTA)


def test_candidates_share_delta() -> None:
    assert set_rank(200, 0.1, 0.05, n_candidates=5) == set_rank(200, 0.1, 0.01)
    assert rows_for_sets(0.1, 0.05, n_candidates=5) == rows_for_sets(0.1, 0.01)
