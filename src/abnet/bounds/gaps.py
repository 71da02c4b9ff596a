"""Joint limits on the rates of several groups, and a bound on the largest gap between two of them."""

from collections.abc import Sequence

import numpy as np

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.shares import shares_by_count

__all__ = ["gap_bound", "joint_limits", "largest_gap"]


def joint_limits(
    successes: Sequence[int], trials: Sequence[int], delta: float = 0.05, *, n_candidates: int = 1
) -> list[tuple[float, float]]:
    """Lower and upper limit of the rate of each group; all hold jointly with probability at least 1-δ.

    δ is divided among the groups in inverse proportion to their numbers of rows, and evenly between the two sides. A
    group without rows has the limits 0 and 1.

    Examples
    --------
    >>> [(round(low, 3), round(high, 3)) for low, high in joint_limits([30, 8], [300, 50])]
    [(0.059, 0.155), (0.07, 0.296)]
    """
    limits = []
    for k, n, share in zip(successes, trials, shares_by_count(trials, delta), strict=True):
        if n == 0:
            limits.append((0.0, 1.0))
            continue
        low = clopper_pearson_lower(k, n, share / 2.0, n_candidates=n_candidates)
        high = clopper_pearson_bound(k, n, share / 2.0, n_candidates=n_candidates)
        limits.append((low, high))
    return limits


def gap_bound(successes: Sequence[int], trials: Sequence[int], delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Bound on the largest gap between the rates of two groups: ``max u_g - l_h`` over all pairs.

    With probability at least 1-δ, no two groups differ by more, given the numbers of rows of the groups.

    Parameters
    ----------
    successes, trials : sequence of int
        Of each group, such as errors and rows, or positive answers and rows of the positive class.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number of models compared on the same rows.

    Examples
    --------
    >>> round(gap_bound([30, 8], [300, 50]), 3)
    0.237
    """
    return largest_gap(joint_limits(successes, trials, delta, n_candidates=n_candidates))


def largest_gap(limits: Sequence[tuple[float, float]]) -> float:
    """The largest difference that limits of the rates of groups allow, rounded up.

    Examples
    --------
    >>> round(largest_gap([(0.1, 0.2), (0.15, 0.4)]), 6)
    0.3
    """
    if len(limits) < 2:
        return 0.0
    lows = [low for low, _ in limits]
    lowest = lows.index(min(lows))
    second = min(lows[:lowest] + lows[lowest + 1 :])
    gaps = []
    for group, (_, high) in enumerate(limits):
        other = lows[lowest]
        if group == lowest:
            other = second
        gaps.append(float(np.nextafter(high - other, 2.0)))
    return min(1.0, max(gaps))
