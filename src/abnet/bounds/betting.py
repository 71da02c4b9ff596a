r"""Bounds on a mean by betting: tighter than Chernoff's bound if the losses vary little.

A gambler bets against the hypothesis that the mean is m. The initial wealth is 1, and ``λ_i >= 0`` is staked on the
i-th loss being below m:

.. math:: W_t(m) = \prod_{i \le t} \big(1 - λ_i(m)(p_i - m)\big), \qquad λ_i(m) = \min\Big(b_i, \frac{c}{1 - m}\Big)

If m is the mean and ``b_i`` depends only on the losses before i, then W is a non-negative martingale, so the
probability that it ever reaches ``K/δ`` is at most ``δ/K`` (Ville's inequality). A mean m is rejected if W reaches
``K/δ``; the bound is the largest m that is not rejected.

**Rejection is monotone in m**, so bisection finds the largest m. Each factor increases with m: where ``b_i`` is
the smaller stake, ``1 - b_i (p_i - m)`` has the slope ``b_i``; where the cap is smaller, ``1 - c (p_i - m)/(1 - m)``
has the slope ``c (1 - p_i)/(1 - m)²``. Neither slope is negative, the factors are positive (at least ``1 - c``), and
the two pieces meet. Hence every product, and their maximum over t, increases with m. The same holds for groups, with
``s - m w`` in place of ``p - m`` and ``0 <= s <= w <= 1``; the slopes are ``b_i w`` and ``c (w - s)/(1 - m)²``. The
returned m is rejected with a margin for all rounding errors, so every larger m is rejected too.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.rounding import adjacent_floats
from abnet.utils.checks import count, level

__all__ = [
    "betting_bound",
    "least_betting_bound",
    "row_weighted_betting_bound",
    "unit_interval",
]


# The largest stake, as a share of the stake that could lose the whole wealth.
_CAP = 0.9
_EPS = 2.0**-52
# Sixteen units of the last place: a quarter of a bracket that is bisected.
_GAP = 2.0**-48
Array = NDArray[np.float64]


def betting_bound(losses: ArrayLike, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Upper limit of the mean of losses in [0, 1], by betting.

    .. math:: \max\Big\{m : \max_t \prod_{i \le t} (1 - λ_i(m)(p_i - m)) < \frac{K}{δ}\Big\},\quad
              λ_i(m) = \min\Big(\sqrt{\frac{2 \ln(K/δ)}{n \hatσ²_{i-1}}}, \frac{0.9}{1-m}\Big)

    with :math:`\hatσ²_i = (1/4 + \sum_{j \le i} (p_j - \hatμ_j)²)/(i+1)` and :math:`\hatμ_i = (1/2 + \sum_{j \le i}
    p_j)/(i+1)`, which depend only on the losses up to i.

    Holds with probability at least 1-δ over n independent examples if the predictor was fixed before they were seen; it
    suffices that each loss has the same mean given those before it. The order of the losses must not depend on the
    losses: use the order of a random split, or `abnet.certificates.row_order`. To choose between this bound and another
    after seeing both, compute each at δ/2.

    Parameters
    ----------
    losses : array-like (n,)
        Losses in [0, 1], for instance each example's Gibbs loss, in their order.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of predictors judged on the same examples.

    Returns
    -------
    float
        A number in [mean loss, 1], rounded up.

    Examples
    --------
    >>> round(betting_bound([0.05, 0.08] * 150), 4), round(betting_bound([0.0] * 300), 4)
    (0.0756, 0.0112)

    References
    ----------
    I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting.
    """
    p = unit_interval("losses", losses)
    return _largest_not_rejected(p, np.ones_like(p), _log_wealth(delta, n_candidates))


def least_betting_bound(n: int, delta: float = 0.05, n_candidates: int = 1) -> float:
    """Smallest value that :func:`betting_bound` can have for any n losses.

    No stake exceeds ``c/(1 - m)`` and no loss is below 0, so the wealth is at most ``(1 + c m/(1 - m))^n``, and it has
    to reach ``K/δ``.

    Examples
    --------
    >>> round(least_betting_bound(300), 4), round(betting_bound([0.0] * 300), 4)
    (0.011, 0.0112)
    """
    gain = math.expm1(_log_wealth(delta, n_candidates) / count("n", n))
    return gain / (_CAP + gain)


def row_weighted_betting_bound(
    sums: ArrayLike, sizes: ArrayLike, largest_size: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Upper limit of the row-weighted mean loss of rows that come in independent groups, by betting.

    .. math:: R = \frac{\mathbf E[S_g]}{\mathbf E[n_g]} \le
              \max\Big\{m : \max_t \prod_{g \le t} (1 - λ_g(m) (S_g - m\, n_g)) < \frac{K}{δ}\Big\},\quad
              0 \le λ_g(m) \le \frac{0.9}{(1-m) B}

    The stakes are those of :func:`betting_bound` for ``(S_g - m n_g)/B``, with the running variance around the running
    ratio. For groups of one row and B = 1 the two bounds are equal.

    Holds with probability at least 1-δ over G independent groups from one source, if the predictor and B were fixed
    before they were seen. The bound is about rows of new groups. The order of the groups must not depend on the losses,
    as for :func:`betting_bound`.

    Parameters
    ----------
    sums : array-like (G,)
        Sum S_g of each group's losses in [0, 1]; for errors, their number.
    sizes : array-like of int (G,)
        Rows n_g of each group, from 1 to B.
    largest_size : int
        The largest size B that a group can have, declared in advance; a value taken from the data invalidates the
        bound.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of predictors judged on the same groups.

    Returns
    -------
    float
        A number in [ΣS/Σn, 1], rounded up.

    Examples
    --------
    >>> round(row_weighted_betting_bound([0, 1, 0, 0] * 25, [4, 6, 5, 4] * 25, largest_size=8), 4)
    0.1058

    References
    ----------
    I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting.
    """
    largest = count("largest_size", largest_size)
    n = _checked_sizes(sizes, largest)
    S = np.asarray(sums, dtype=np.float64)
    if S.shape != n.shape:
        raise ValueError(f"sums must have one number for each of the {len(n)} groups; got the shape {S.shape}.")
    if not np.all((S >= 0.0) & (n - S >= 0.0)):
        raise ValueError("sums must lie between 0 and the size of their group.")
    return _largest_not_rejected(S / largest, n / largest, _log_wealth(delta, n_candidates))


def unit_interval(name: str, values: ArrayLike) -> Array:
    """Return ``values`` as a vector of at least one float in [0, 1].

    Examples
    --------
    >>> unit_interval("losses", [True, False])
    array([1., 0.])
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} must be a vector of at least one number; got the shape {vector.shape}.")
    if not np.all((vector >= 0.0) & (vector <= 1.0)):
        raise ValueError(f"{name} must lie in [0, 1].")
    return vector


def _checked_sizes(sizes: ArrayLike, largest: int) -> Array:
    """Sizes of groups as floats."""
    n = np.asarray(sizes)
    if n.ndim != 1 or len(n) == 0 or n.dtype.kind not in "iu":
        raise ValueError("sizes must be a vector of at least one whole number.")
    if n.min() < 1 or n.max() > largest:
        raise ValueError(f"sizes must lie between 1 and largest_size = {largest}; got {n.min()} to {n.max()}.")
    return n.astype(np.float64)


def _log_wealth(delta: float, n_candidates: int) -> float:
    """``ln(K/δ)``: a mean at which the logarithm of the wealth reaches this is rejected."""
    return math.log(count("n_candidates", n_candidates)) - math.log(level("delta", delta))


def _largest_not_rejected(s: Array, w: Array, goal: float) -> float:
    """Bound on the ratio E[s]/E[w], ``0 <= s <= w <= 1``: the outer end of the final bracket."""
    bets = _bets(s, w, goal)
    observed = min(1.0, float(np.sum(s) / np.sum(w)))
    if observed == 1.0:
        return 1.0

    def excess(m: float) -> float:
        return _excess(m, s, w, bets, goal)

    excess_at_observed = excess(observed)
    excess_at_one = excess(1.0)
    if excess_at_one < 0.0:
        return 1.0
    # An early run of small losses can reject the observed mean; a bound below it would be valid, and surprising.
    if excess_at_observed >= 0.0:
        return observed
    low, high = _narrow_bracket(excess, (observed, excess_at_observed), (1.0, excess_at_one))
    return adjacent_floats(lambda m: excess(m) >= 0.0, low, high)[1]


def _narrow_bracket(
    excess: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]
) -> tuple[float, float]:
    """The ends of a narrow bracket: points at which ``excess`` was evaluated, negative at the first alone.

    From two points with their values, by the Illinois form of false position, which evaluates ``excess`` about seven
    times where bisection needs forty. Each evaluation goes over all losses.
    """
    a, below = low
    b, above = high
    last = 0.0
    while b - a > 4 * _GAP * b:
        m = a - below * (b - a) / (above - below)
        m = min(max(m, a + _GAP * b), b - _GAP * b)  # beside an end that is at the root, so that the other moves
        value = excess(m)
        # An end that stays twice in a row counts half, so that the next point lies beyond the root.
        if value < 0.0:
            a = m
            below = value
            if last < 0.0:
                above /= 2
        else:
            b = m
            above = value
            if last > 0.0:
                below /= 2
        last = value
    return a, b


def _bets(s: Array, w: Array, goal: float) -> Array:
    """Stakes ``sqrt(2 ln(K/δ) / (n σ̂²_{i-1}))`` before the cap; each depends only on earlier losses."""
    seen = np.arange(2.0, len(s) + 2.0)
    ratio = (0.5 + np.cumsum(s)) / (1.0 + np.cumsum(w))
    variance = (0.25 + np.cumsum((s - ratio * w) ** 2)) / seen
    before = np.concatenate([[0.25], variance[:-1]])
    return np.asarray(np.sqrt(2.0 * goal / (len(s) * before)))


def _excess(m: float, s: Array, w: Array, bets: Array, goal: float) -> float:
    """Largest log-wealth minus its goal and minus all rounding errors; m is rejected if this is not negative."""
    stakes = bets
    if m < 1.0:
        stakes = np.minimum(bets, _CAP / (1.0 - m))
    gains = np.log1p(stakes * (m * w - s))
    # A factor's relative error is a few units of its last place, ten times that next to 1 - c, and of m w; a sum of n
    # terms adds n units of the sum of their sizes.
    slack = _EPS * ((len(s) + 64.0) * float(np.abs(gains).sum()) + 32.0 * float(stakes.sum()))
    return float(np.cumsum(gains).max() - (goal + slack))
