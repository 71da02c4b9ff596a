"""The limits of the simulations: exact by summing probabilities, and a weak simulation is refused."""

import math

import pytest

from broken_promise import FALSE_ALARM, POWER, breaks, most_failures, power


def tail(least: int, n: int, rate: float) -> float:
    return math.fsum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(least, n + 1))


@pytest.mark.parametrize(("repetitions", "delta"), [(60, 0.25), (200, 0.1), (450, 0.05), (150, 0.2)])
def test_the_limit_is_the_smallest_with_few_false_alarms(repetitions: int, delta: float) -> None:
    limit = most_failures(repetitions, delta)
    assert tail(limit + 1, repetitions, delta) <= FALSE_ALARM < tail(limit, repetitions, delta)
    assert power(repetitions, delta) == pytest.approx(tail(limit + 1, repetitions, 2 * delta))
    assert not breaks(limit, repetitions, delta)
    assert breaks(limit + 1, repetitions, delta)


@pytest.mark.parametrize(("repetitions", "delta"), [(30, 0.1), (150, 0.1), (100, 0.05), (12, 0.2)])
def test_a_weak_simulation_is_refused(repetitions: int, delta: float) -> None:
    assert power(repetitions, delta) < POWER
    with pytest.raises(AssertionError, match=str(repetitions)):
        breaks(0, repetitions, delta)
