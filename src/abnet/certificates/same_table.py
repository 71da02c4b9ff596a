"""How likely a second sample is the same table, which happens where rows repeat."""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_chance_of_same_table"]


def log_chance_of_same_table(counts: NDArray[np.intp]) -> float:
    """Logarithm of the probability that n draws with replacement contain each row exactly as often as these rows do.

    Parameters
    ----------
    counts : int array
        How often each distinct row occurs; n is their sum.

    Examples
    --------
    >>> round(math.exp(log_chance_of_same_table(np.array([1, 1]))), 3)
    0.5
    """
    n = int(counts.sum())
    return math.lgamma(n + 1) + sum(k * math.log(k / n) - math.lgamma(k + 1) for k in counts.tolist())
