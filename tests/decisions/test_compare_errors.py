"""Two models on the same rows: counts, records, and both statements where the errors are known."""

import json
import math

import numpy as np
import pytest

from abnet import bounds
from abnet.decisions import ErrorComparison, compare_wrong
from promise import breaks

DELTA, N = 0.1, 150


def draw(rng: np.random.Generator, only_a: float, only_b: float, both: float) -> tuple[np.ndarray, np.ndarray]:
    u = rng.random(N)
    wrong_both = u < both
    return wrong_both | ((u >= both) & (u < both + only_a)), wrong_both | (
        (u >= both + only_a) & (u < both + only_a + only_b)
    )


CASES = [(0.05, 0.05, 0.1), (0.1, 0.02, 0.0), (0.02, 0.15, 0.05)]


@pytest.mark.parametrize("case", CASES)
def test_difference_keeps_its_promise(rng: np.random.Generator, case: tuple[float, float, float]) -> None:
    limits = [compare_wrong(*draw(rng, *case), DELTA).difference_bound for _ in range(500)]
    assert not breaks(sum(limit < case[0] - case[1] for limit in limits), 500, DELTA)


def test_difference_of_upper_limits_is_a_trap(rng: np.random.Generator) -> None:
    """Two upper limits, each right, say nothing about their difference."""
    failed = 0
    for _ in range(500):
        a, b = draw(rng, 0.1, 0.02, 0.0)
        limits = [bounds.clopper_pearson_bound(int(wrong.sum()), N, DELTA) for wrong in (a, b)]
        failed += limits[0] - limits[1] < 0.08
    assert breaks(failed, 500, DELTA)


def verdicts(discordant: int, mid: bool) -> float:
    """Probability of "A is better" where A errs as often as B, given the rows on which one of them errs: exact."""
    points = np.array([math.comb(discordant, k) / 2**discordant for k in range(discordant + 1)])
    p = np.array([ErrorComparison(100, k, discordant - k, 0, DELTA).p_value for k in range(discordant + 1)])
    return float(points[(p - points / 2 if mid else p) <= DELTA].sum())


def test_sign_test_keeps_its_promise_and_the_mid_p_does_not() -> None:
    assert max(verdicts(m, mid=False) for m in range(60)) <= DELTA
    assert max(verdicts(m, mid=True) for m in range(60)) > 1.4 * DELTA


def test_p_value_is_the_binomial_sum() -> None:
    for k, m in [(0, 5), (3, 11), (6, 12), (12, 12)]:
        true = math.fsum(math.comb(m, i) for i in range(k + 1)) / 2**m
        assert ErrorComparison(50, k, m - k, 3, 0.05).p_value == pytest.approx(true, rel=1e-8)
    assert ErrorComparison(50, 0, 0, 3, 0.05).p_value == 1.0
    assert not ErrorComparison(50, 0, 0, 3, 0.05).a_is_better


def test_counts_and_candidates() -> None:
    result = compare_wrong([True, True, False, False, True], [True, False, True, False, False], n_candidates=4)
    assert (result.only_a, result.only_b, result.both) == (2, 1, 1)
    assert ErrorComparison(90, 2, 12, 1, 0.05).a_is_better
    assert not ErrorComparison(90, 2, 12, 1, 0.05, n_candidates=10).a_is_better
    one, ten = (ErrorComparison(90, 2, 12, 1, 0.05, n_candidates=k).difference_bound for k in (1, 10))
    assert one < ten


def test_record_survives_json_and_says_what_is_shown() -> None:
    better = ErrorComparison(1000, 10, 40, 20, 0.05, n_candidates=2)
    assert ErrorComparison.from_dict(json.loads(json.dumps(better.to_dict()))) == better
    text = " ".join(better.describe(a="forest", b="network").split())
    assert "forest made 30 errors and network 60" in text
    assert "is smaller than that of network by at least" in text
    assert "forest errs less often than network on new data" in text
    text = " ".join(str(ErrorComparison(1000, 40, 10, 20, 0.05)).split())
    assert "the error of A on new data from the same source exceeds that of B by at most" in text
    assert "is not shown" in text


def test_arguments_are_checked() -> None:
    for a, b in (([True], [True, False]), ([0.5], [True]), ([], [])):
        with pytest.raises(ValueError, match=r"must|rows"):
            compare_wrong(a, b)
    with pytest.raises(ValueError, match="exceeds n_rows"):
        ErrorComparison(10, 5, 5, 5, 0.05)
    with pytest.raises(ValueError, match=r"^only_a must"):
        ErrorComparison(10, -1, 5, 5, 0.05)
