"""When a count of failures contradicts a promise."""

from scipy.special import bdtrc

__all__ = ["breaks"]


def breaks(failures: int, repetitions: int, delta: float) -> bool:
    """Whether so many failures have a probability below 1e-3 if each has at most δ."""
    return bool(failures > 0 and bdtrc(failures - 1, repetitions, delta) < 1e-3)
