"""The fixed sequence: what passes, what it promises, and what testing in another order would do."""

import math

import numpy as np
import pytest

from abnet.decisions import error_free_rows, fixed_sequence, rows_needed
from promise import breaks

DELTA, TARGET = 0.1, 0.1


def exact_tail(k: int, m: int, rate: float) -> float:
    return math.fsum(math.comb(m, i) * rate**i * (1 - rate) ** (m - i) for i in range(k + 1))


def test_it_stops_at_the_first_threshold_that_fails(rng: np.random.Generator) -> None:
    for _ in range(200):
        m = np.sort(rng.integers(0, 120, size=8))
        k = [int(rng.binomial(size, 0.04)) for size in m]
        passed = fixed_sequence(k, m.tolist(), TARGET, DELTA)
        tails = [exact_tail(a, int(b), TARGET) for a, b in zip(k, m, strict=True)]
        assert all(tail <= DELTA for tail in tails[:passed])
        assert passed == 8 or tails[passed] > DELTA * (1 - 1e-8)


def test_candidates_share_delta() -> None:
    assert fixed_sequence([0], [40], 0.1, 0.05, n_candidates=4) == 0
    assert fixed_sequence([0], [42], 0.1, 0.05, n_candidates=4) == 1
    assert fixed_sequence([0], [40], 0.1, 0.05) == 1


def simulated(rng: np.random.Generator, repetitions: int) -> tuple[np.ndarray, np.ndarray]:
    """Failures and trials at ten nested thresholds whose rates all lie just above the target: any pass is false."""
    steps = rng.binomial(12, 0.101, size=(repetitions, 10))
    return np.cumsum(steps, axis=1), np.broadcast_to(np.arange(1, 11) * 12 + 30, (repetitions, 10))


@pytest.mark.parametrize(("fixed", "broken"), [(True, False), (False, True)], ids=["fixed sequence", "any that passes"])
def test_promise_where_every_pass_is_false(rng: np.random.Generator, fixed: bool, broken: bool) -> None:
    """The trap: going on after a failure, and keeping whatever passes."""
    k, m = simulated(rng, 1000)
    k = k + rng.binomial(30, 0.101, size=(1000, 1))
    if fixed:
        false = [fixed_sequence(a.tolist(), b.tolist(), TARGET, DELTA) > 0 for a, b in zip(k, m, strict=True)]
    else:
        false = [
            any(fixed_sequence([int(x)], [int(y)], TARGET, DELTA) for x, y in zip(a, b, strict=True))
            for a, b in zip(k, m, strict=True)
        ]
    assert breaks(sum(false), 1000, DELTA) == broken


def test_rows_without_a_failure() -> None:
    for target, delta in [(0.05, 0.05), (0.02, 0.05), (0.3, 0.01)]:
        m = error_free_rows(target, delta)
        assert fixed_sequence([0], [m], target, delta) == 1
        assert fixed_sequence([0], [m - 1], target, delta) == 0


def test_rows_needed_would_do() -> None:
    for k, m, n in [(0, 10, 100), (1, 50, 100), (3, 90, 100), (0, 0, 50)]:
        rows = rows_needed(k, m, n, 0.05, 0.05)
        assert rows is not None
        counted = rows * max(m, 1) // n
        assert fixed_sequence([math.ceil(k / max(m, 1) * counted)], [counted], 0.05, 0.05) == 1
    assert rows_needed(5, 100, 200, 0.05) is None


@pytest.mark.parametrize("target", [0.0, 1.0, float("nan")])
def test_target_is_checked(target: float) -> None:
    with pytest.raises(ValueError, match=r"^target must"):
        fixed_sequence([0], [10], target)
