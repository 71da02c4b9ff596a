r"""Bounds from counts and values on rows held out from training, in the form that `Statement` records.

Each is a thin wrapper whose arguments have the names under which a statement stores them; the mathematics is in
`abnet.bounds.clopper_pearson`, `abnet.bounds.gibbs` and `abnet.bounds.betting`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abnet.bounds.betting import betting_bound, least_betting_bound, row_weighted_betting_bound
from abnet.bounds.clopper_pearson import binomial_tail, clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.drawn_network import drawn_network_bound
from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
from abnet.bounds.methods import method
from abnet.bounds.rounding import round_up

__all__ = [
    "cost_bound",
    "group_error_bound",
    "limit_of_failures",
    "mean_by_betting",
    "rate_of_successes",
]

method(clopper_pearson_bound)
method(clopper_pearson_lower)
method(gibbs_bound_frozen)
method(drawn_network_bound)
method(row_weighted_betting_bound)


def _betting_range(n: int, mean: float, delta: float, n_candidates: int = 1) -> tuple[float, float]:
    """Range of `betting_bound` for n values with this mean: not below the mean, nor below the smallest possible
    bound."""
    return max(mean, least_betting_bound(n, delta, n_candidates)), 1.0


@method(values="losses", attainable=_betting_range)
def mean_by_betting(losses: Any, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    """`betting_bound` on losses in the order of the rows' keys."""
    return betting_bound(losses, delta, n_candidates=n_candidates)


def _cost_range(n: int, mean: float, largest: float, delta: float, n_candidates: int = 1) -> tuple[float, float]:
    """Range of `cost_bound` for n shares with this mean."""
    low, high = _betting_range(n, mean, delta, n_candidates)
    return low * largest, high * largest


@method(values="shares", attainable=_cost_range)
def cost_bound(shares: Any, largest: float, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Bound on the expected cost of a row: ``c_max · betting(c_i / c_max)``.

    Parameters
    ----------
    shares : array-like (n,)
        Costs as shares of the largest, in the order of the rows' keys.
    largest : float
        The largest entry of the cost table, not the largest cost that occurred.
    delta, n_candidates
        As for `abnet.bounds.betting.betting_bound`.

    Examples
    --------
    >>> round(cost_bound([0.0, 0.0, 0.1, 0.0, 0.0] * 60, 10.0), 3)
    0.317
    """
    share = betting_bound(shares, delta, n_candidates=n_candidates)
    if share == 1.0:
        return largest
    return min(largest, round_up(share * largest))


@method
def group_error_bound(
    rows: Sequence[int], errors: Sequence[int], delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound on the error rate of a new group, averaged over its rows, from G groups held out from training.

    Uses betting on the groups' error rates, in the order of the groups' keys. If every group has one row, the number of
    errors is binomial, and the bound is Clopper-Pearson. This choice depends on the group sizes only, not on the
    errors.

    Examples
    --------
    >>> round(group_error_bound([4] * 60, [0, 2, 1, 1] * 15), 4), round(group_error_bound([1] * 100, [1] + [0] * 99), 4)
    (0.308, 0.0466)
    """
    if max(rows) == 1:
        return clopper_pearson_bound(int(sum(errors)), len(rows), delta, n_candidates=n_candidates)
    return betting_bound(np.asarray(errors) / np.asarray(rows), delta, n_candidates=n_candidates)


@method
def limit_of_failures(
    failures: int, trials: int, limit: float, delta: float = 0.05, *, n_candidates: int = 1
) -> float | None:
    r"""Return `limit` if the data show that the failure rate is at most `limit`, and None otherwise.

    .. math:: \Pr(\mathrm{Bin}(m, ε) \le k) \le δ/K

    Examples
    --------
    >>> limit_of_failures(0, 59, 0.05), limit_of_failures(0, 58, 0.05)
    (0.05, None)
    """
    if binomial_tail(failures, trials, limit) > delta / n_candidates:
        return None
    return limit


@method
def rate_of_successes(
    failures: int, trials: int, rate: float, delta: float = 0.05, *, n_candidates: int = 1
) -> float | None:
    """Return `rate` if the data show that the success rate is at least `rate`, and None otherwise.

    Examples
    --------
    >>> rate_of_successes(0, 59, 0.95), rate_of_successes(1, 59, 0.95)
    (0.95, None)
    """
    allowed = float(np.nextafter(1.0 - rate, 0.0))
    if not limit_of_failures(failures, trials, allowed, delta, n_candidates=n_candidates):
        return None
    return rate
