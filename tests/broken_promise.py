"""When a count of failures in a simulation contradicts a promise.

A simulation must be able to fail: with too few repetitions to catch a doubled failure rate, `breaks` raises an error.
"""

from scipy.stats import binom

__all__ = ["FALSE_ALARM", "POWER", "breaks", "most_failures", "power"]

FALSE_ALARM = 1e-3
"""Probability, at most, that a promise which is just kept is called broken."""
POWER = 0.8
"""Probability, at least, that a failure rate of 2δ is caught."""


def most_failures(repetitions: int, delta: float) -> int:
    """Largest count that chance explains: at a rate of δ, more have a probability below `FALSE_ALARM`."""
    return int(binom.isf(FALSE_ALARM, repetitions, delta))


def power(repetitions: int, delta: float) -> float:
    """Probability that a failure rate of 2δ gives more failures than chance explains at δ."""
    return float(binom.sf(most_failures(repetitions, delta), repetitions, 2 * delta))


def breaks(failures: int, repetitions: int, delta: float) -> bool:
    """Whether there are more failures than a promise at δ explains."""
    caught = power(repetitions, delta)
    assert caught >= POWER, f"{repetitions} repetitions catch a doubled rate of {delta} in only {caught:.0%} of cases"
    return failures > most_failures(repetitions, delta)
