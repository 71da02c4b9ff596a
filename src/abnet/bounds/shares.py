"""How δ is divided among statements that hold jointly."""

import math
from collections.abc import Sequence

from abnet.utils.checks import count, level

__all__ = [
    "share_for_fixed_paths",
    "share_for_sampling",
    "share_of_a_limit",
    "share_of_two",
    "shares_by_count",
]

_SAMPLING = 0.1
_FIXED_PATHS = 0.1
"""Shares of δ for sampled risks, and for the draw of the paths that vote."""


def share_of_two(delta: float) -> float:
    """The share of δ for each of two bounds that a statement is made of, such as first and second order for a vote.

    Examples
    --------
    >>> share_of_two(0.05)
    0.025
    """
    return level("delta", delta) / 2.0


def shares_by_count(counts: Sequence[int], delta: float = 0.05) -> tuple[float, ...]:
    r"""Split δ among classes or populations in inverse proportion to their numbers of rows.

    .. math:: δ_c = δ \frac{1/n_c}{\sum_{n_d > 0} 1/n_d}, \qquad \sum_c δ_c \le δ

    Valid because the argument conditions on the counts: given the counts, the errors of each class are binomial, and
    the shares are constants. A rare class gets a larger share, which tightens its wide limit most. A class without rows
    gets 0: its limit is 1, which cannot fail.

    Parameters
    ----------
    counts : sequence of int
        Rows n_c of each class; may be 0.
    delta : float
        Maximum probability that any of the limits fails.

    Returns
    -------
    tuple of float
        One share per class, in their order; rounded down so that the sum does not exceed δ.

    Examples
    --------
    >>> [round(share, 4) for share in shares_by_count([10, 990, 0])]
    [0.0495, 0.0005, 0.0]
    """
    sizes = [count("counts", size, least=0) for size in counts]
    delta = level("delta", delta)
    smallest = min((size for size in sizes if size > 0), default=1)
    weights = [0.0] * len(sizes)
    for place, size in enumerate(sizes):
        if size > 0:
            weights[place] = smallest / size
    total = math.fsum(weights)
    if total == 0.0:
        return (0.0,) * len(sizes)
    return tuple(delta * (weight / total) * (1.0 - 2.0**-50) for weight in weights)


def share_of_a_limit(delta: float, n_answers: int) -> float:
    """The share of δ for each lower or upper limit on the rates of A possible answers to the rows of one class.

    With more than two answers there are 2A limits. The rates of two answers are complements: the upper limit of one is
    the lower limit of the other, so there are only two limits.

    Examples
    --------
    >>> share_of_a_limit(0.06, 3), share_of_a_limit(0.06, 2)
    (0.01, 0.03)
    """
    n_limits = 2 * count("n_answers", n_answers, least=2)
    if n_answers == 2:
        n_limits = 2
    return level("delta", delta) / n_limits


def share_for_sampling(delta: float) -> tuple[float, float]:
    """The share of δ for sampling an empirical risk, and the rest of δ.

    Examples
    --------
    >>> share_for_sampling(0.5)
    (0.05, 0.45)
    """
    spent = _SAMPLING * level("delta", delta)
    return spent, delta - spent


def share_for_fixed_paths(delta: float) -> tuple[float, float]:
    """The share of δ for the draw of the paths that vote, and the rest of δ.

    Examples
    --------
    >>> share_for_fixed_paths(0.5)
    (0.05, 0.45)
    """
    spent = _FIXED_PATHS * level("delta", delta)
    return spent, delta - spent
