"""Two models on the same rows: counts, and both statements where the errors are known."""

import math
from functools import cache

import numpy as np
import pytest

from abnet import Certificate, bounds
from abnet.bounds.difference import sign_test
from abnet.certificates import compare_judged, judge_answers
from abnet.certificates.statements.difference import DifferenceBound
from abnet.certificates.terms import Terms
from broken_promise import breaks

DELTA = 0.1
N = 150


def draw(rng: np.random.Generator, only_a: float, only_b: float, both: float) -> tuple[np.ndarray, np.ndarray]:
    u = rng.random(N)
    wrong_both = u < both
    return wrong_both | ((u >= both) & (u < both + only_a)), wrong_both | (
        (u >= both + only_a) & (u < both + only_a + only_b)
    )


def compare(a: np.ndarray, b: np.ndarray, delta: float = DELTA, n_candidates: int = 1) -> Certificate:
    truth = np.zeros(len(a), int)
    one, other = (judge_answers(truth, np.asarray(wrong).astype(int)) for wrong in (a, b))
    return compare_judged(one, other, Terms(delta=delta, n_candidates=n_candidates, source="test set"))


def test_difference_keeps_its_promise(rng: np.random.Generator) -> None:
    """The bound itself is tested exactly in `tests/bounds`; here the rows are judged, too."""

    @cache
    def limit(only_a: int, only_b: int) -> float:
        return compare(np.arange(N) < only_a, np.arange(N) >= N - only_b).difference_bound or 0.0

    failures = 0
    for _ in range(300):
        a, b = draw(rng, 0.02, 0.1, 0.05)
        failures += limit(int((a & ~b).sum()), int((b & ~a).sum())) < -0.08
    assert not breaks(failures, 300, DELTA)


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
    shown = np.array([sign_test(k, discordant - k, DELTA) is not None for k in range(discordant + 1)])
    return float(points[np.cumsum(points) - points / 2 <= DELTA if mid else shown].sum())


def test_sign_test_keeps_its_promise_and_the_mid_p_does_not() -> None:
    assert max(verdicts(m, mid=False) for m in range(60)) <= DELTA
    assert max(verdicts(m, mid=True) for m in range(60)) > 1.4 * DELTA
    assert max(verdicts(m, mid=False) for m in range(60)) > 0.5 * DELTA


def test_counts_and_candidates() -> None:
    made = compare(np.array([True, True, False, False, True]), np.array([True, False, True, False, False]))
    difference = made.find(DifferenceBound)
    assert difference is not None
    assert (difference.only_a, difference.only_b, difference.n) == (2, 1, 5)
    a = np.arange(90) < 2
    b = (np.arange(90) >= 2) & (np.arange(90) < 14)
    one, ten = (compare(a, b, 0.05, k) for k in (1, 10))
    assert (one.statements[1].value, ten.statements[1].value) == (0.0, None)
    assert (one.difference_bound or 0.0) < (ten.difference_bound or 0.0)
    assert Certificate.from_dict(one.to_dict()) == one


def test_words_name_the_better_model() -> None:
    a = np.arange(1000) < 10
    b = (np.arange(1000) >= 10) & (np.arange(1000) < 50)
    shown = compare(a, b)
    not_shown = compare(b, a)
    assert shown.statements[1].value is not None
    assert not_shown.statements[1].value is None
    assert str(shown).index("A") < str(shown).index("B")


def test_both_need_the_same_rows() -> None:
    two = judge_answers([0, 0], [0, 0])
    one = judge_answers([0], [0])
    with pytest.raises(ValueError, match=r"\b2\b.*\b1\b"):
        compare_judged(two, one, Terms())
