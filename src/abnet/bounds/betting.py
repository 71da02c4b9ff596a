r"""Bounds on a mean by betting: tighter than Chernoff's where the losses vary little.

A gambler who doubts that the mean is m starts with one unit and stakes ``λ_i >= 0`` on every loss being smaller:

.. math:: W_t(m) = \prod_{i \le t} \big(1 - λ_i(m)(p_i - m)\big), \qquad λ_i(m) = \min\Big(b_i, \frac{c}{1 - m}\Big)

If m is the mean and ``b_i`` looks at the losses before i alone, W is a non-negative martingale, so that it ever reaches
``K/δ`` with probability at most ``δ/K`` (Ville). A mean m is rejected where it does; the bound is the largest m that is
not.

**Rejection is monotone in m**, so that bisection finds the largest one. Each factor grows with m: where ``b_i`` is
the smaller stake, ``1 - b_i (p_i - m)`` has the slope ``b_i``; where the cap is, ``1 - c (p_i - m)/(1 - m)`` has the
slope ``c (1 - p_i)/(1 - m)²``; neither is negative, the factors are positive (at least ``1 - c``), and the two pieces
meet. Hence every product, and their maximum over t, grows with m. The same holds for groups, ``s - m w`` in place of
``p - m`` with ``0 <= s <= w <= 1``, whose slopes are ``b_i w`` and ``c (w - s)/(1 - m)²``. So the returned m, at which
rejection was shown with room for all rounding errors, has no m above it that is not rejected.

The same argument gives statements about a stream of errors that hold at all times at once, however often one looks.
``Z_t`` is 1 if labelled row t was misclassified; k is the number of errors among the first t rows. A mixture of
likelihood ratios against one error rate is a non-negative (super)martingale of mean 1 at this rate, so that it ever
reaches 1/α with probability at most α (Ville).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaln, gammaln

from abnet.bounds.rounding import adjacent_floats
from abnet.checks import count, level

__all__ = [
    "anytime_upper_limit",
    "betting_bound",
    "least_betting_bound",
    "log_evidence",
    "row_weighted_betting_bound",
    "unit_interval",
]


# The largest stake, as a share of the one that could lose everything.
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
    p_j)/(i+1)`, which look at the losses up to i alone.

    With probability at least 1-δ over n independent examples of a predictor that was fixed before they were seen; it
    suffices that each loss has the same mean given those before it. The order of the losses counts: it must not depend
    on them (the order of a random split, or `abnet.certificates.row_order`). Choosing between this bound and another
    after having seen both costs δ/2 each.

    Parameters
    ----------
    losses : array-like (n,)
        Losses in [0, 1], for instance each example's Gibbs loss, in their order.
    delta : float
        Probability with which the bound may fail.
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
    """A number that :func:`betting_bound` cannot fall below, whatever n losses it is given.

    No stake exceeds ``c/(1 - m)`` and no loss is below 0, so the wealth is at most ``(1 + c m/(1 - m))^n``, which has
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

    Stakes are those of :func:`betting_bound` for ``(S_g - m n_g)/B``, the running variance taken about the running
    ratio; groups of one row and B = 1 give the same number.

    With probability at least 1-δ over G independent groups from one source, if the predictor and B were fixed before
    they were seen. The promise is about rows of new groups. Their order must not depend on the losses, as for
    :func:`betting_bound`.

    Parameters
    ----------
    sums : array-like (G,)
        Sum S_g of each group's losses in [0, 1]; for errors, their number.
    sizes : array-like of int (G,)
        Rows n_g of each group, from 1 to B.
    largest_size : int
        The largest size B that a group can have, declared in advance; taking it from the data voids the bound.
    delta : float
        Probability with which the bound may fail.
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
    n = _sizes(sizes, largest)
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


def _sizes(sizes: ArrayLike, largest: int) -> Array:
    n = np.asarray(sizes)
    if n.ndim != 1 or len(n) == 0 or n.dtype.kind not in "iu":
        raise ValueError("sizes must be a vector of at least one whole number.")
    if n.min() < 1 or n.max() > largest:
        raise ValueError(f"sizes must lie between 1 and largest_size = {largest}; got {n.min()} to {n.max()}.")
    return n.astype(np.float64)


def _log_wealth(delta: float, n_candidates: int) -> float:
    return math.log(count("n_candidates", n_candidates)) - math.log(level("delta", delta))


def _largest_not_rejected(s: Array, w: Array, goal: float) -> float:
    """Bound on the ratio E[s]/E[w], ``0 <= s <= w <= 1``: the outer end of the final bracket."""
    bets = _bets(s, w, goal)
    observed = min(1.0, float(np.sum(s) / np.sum(w)))
    if observed == 1.0:
        return 1.0

    def excess(m: float) -> float:
        return _excess(m, s, w, bets, goal)

    low, high = (observed, excess(observed)), (1.0, excess(1.0))
    if high[1] < 0.0:
        return 1.0
    # An early run of small losses can reject the observed mean; a bound below it would be valid, and surprising.
    if low[1] >= 0.0:
        return observed
    return adjacent_floats(lambda m: excess(m) >= 0.0, *_narrowed(excess, low, high))[1]


def _narrowed(
    excess: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]
) -> tuple[float, float]:
    """The ends of a narrow bracket: points at which ``excess`` was evaluated, negative at the first alone.

    From two points with their values, by the Illinois form of false position: it needs seven or so where bisection
    needs forty, and each goes over all losses.
    """
    (a, below), (b, above) = low, high
    last = 0.0
    while b - a > 4 * _GAP * b:
        m = a - below * (b - a) / (above - below)
        m = min(max(m, a + _GAP * b), b - _GAP * b)  # beside an end that is at the root, so that the other moves
        value = excess(m)
        if value < 0.0:
            a, below, above = m, value, above / 2 if last < 0.0 else above
        else:
            b, above, below = m, value, below / 2 if last > 0.0 else below
        last = value
    return a, b


def _bets(s: Array, w: Array, goal: float) -> Array:
    """Stakes ``sqrt(2 ln(K/δ) / (n σ̂²_{i-1}))`` before the cap; none looks at its own loss or at a later one."""
    seen = np.arange(2.0, len(s) + 2.0)
    ratio = (0.5 + np.cumsum(s)) / (1.0 + np.cumsum(w))
    variance = (0.25 + np.cumsum((s - ratio * w) ** 2)) / seen
    before = np.concatenate([[0.25], variance[:-1]])
    return np.asarray(np.sqrt(2.0 * goal / (len(s) * before)))


def _excess(m: float, s: Array, w: Array, bets: Array, goal: float) -> float:
    """By how much the largest log-wealth exceeds its goal, less all rounding errors: not negative, m is rejected."""
    stakes = np.minimum(bets, _CAP / (1.0 - m)) if m < 1.0 else bets
    gains = np.log1p(stakes * (m * w - s))
    # A factor's relative error is a few units of its last place, ten times that next to 1 - c, and of m w; a sum of n
    # terms adds n units of the sum of their sizes.
    slack = _EPS * ((len(s) + 64.0) * float(np.abs(gains).sum()) + 32.0 * float(stakes.sum()))
    return float(np.cumsum(gains).max() - (goal + slack))


# The mixtures: Beta(1, 5) cut to [ε₀, 1] against an error that is too large, Beta(1, 20) cut to [0, p] for the limit.
_LARGE, _SMALL = 5.0, 20.0

# Incomplete beta functions err by less than this share of their value; smaller ones than this may have underflowed.
_MARGIN, _TINY = 1e-9, 1e-290
_ROUNDING = 2.0**-50


def log_evidence(errors: ArrayLike, n: ArrayLike, error: float) -> Array:
    r"""Logarithm of the evidence that an error rate exceeds what was promised, rounded down.

    .. math:: E_t = \int_{ε_0}^1 \Big(\frac{q}{ε_0}\Big)^k \Big(\frac{1-q}{1-ε_0}\Big)^{t-k} dπ(q),\qquad
              π = \mathrm{Beta}(1, 5) \text{ cut to } [ε_0, 1]

    In closed form :math:`5\, ε_0^{-k} (1-ε_0)^{-(t-k+5)} \int_{ε_0}^1 q^k (1-q)^{t-k+4} dq`, an incomplete beta
    function.

    Valid for every stream with ``P(Z_t = 1 | past) <= ε₀`` at all times, independent or not: the probability that
    ``E_t >= 1/α`` ever happens is at most α.

    Parameters
    ----------
    errors, n : array-like of int
        Numbers k of errors among the first t rows, and t.
    error : float
        The promised error ε₀ in (0, 1).

    Returns
    -------
    array
        ``ln E_t``.

    Examples
    --------
    >>> np.exp(log_evidence([0, 4, 20], [0, 20, 200], 0.05)).round(3)
    array([ 1.   ,  8.779, 13.798])

    References
    ----------
    H. Robbins (1970), Statistical methods related to the law of the iterated logarithm; A. Podkopaev, A. Ramdas (2021),
    Tracking the risk of a deployed model and detecting harmful distribution shifts.
    """
    eps = level("error", error)
    k, t = np.broadcast_arrays(np.asarray(errors, dtype=np.float64), np.asarray(n, dtype=np.float64))
    a, b = k + 1.0, t - k + _LARGE
    tail = np.asarray(betaincc(a, b, eps))
    sizes = gammaln(a + b + 1.0) - k * math.log(eps) - b * math.log1p(-eps)
    logs = math.log(_LARGE) - k * math.log(eps) - b * math.log1p(-eps) + betaln(a, b)
    logs = np.asarray(logs + np.log(np.maximum(tail, _TINY)))
    for i in np.argwhere(tail <= _TINY):
        at = tuple(i)
        logs[at] = math.log(_LARGE * eps / b[at]) + math.log(_series(float(a[at]), float(b[at]), eps))
    return np.asarray(np.where(t == 0.0, 0.0, logs - _MARGIN - _ROUNDING * sizes))


def _series(a: float, b: float, eps: float) -> float:
    """Return ``b ε^-a (1-ε)^-b ∫_ε^1 q^(a-1) (1-q)^(b-1) dq`` from below, for an error far below ε.

    It is ``Σ_j Π_{i<j} (1-ε)(a+b+i)/(b+1+i)``: positive terms, each at most so much smaller than the one before.
    """
    ratio = (1.0 - eps) * (a + b) / (b + 1.0)
    terms = np.arange(min(50 + int(40.0 / (1.0 - ratio)), 10**6))
    return 1.0 + float(np.cumprod((1.0 - eps) * (a + b + terms) / (b + 1.0 + terms)).sum())


def anytime_upper_limit(errors: int, n: int, alpha: float = 0.05) -> float:
    r"""Upper limit of a constant error rate that may be computed after every row.

    .. math:: \max\Big\{p : \frac{\int_0^p q^k (1-q)^{t-k} dπ_p(q)}{p^k (1-p)^{t-k}} < \frac1α\Big\},\qquad
              π_p = \mathrm{Beta}(1, 20) \text{ cut to } [0, p]

    If every row is wrong with the same probability given those before it, then with probability at least 1-α the
    limit lies above it at all times.

    Parameters
    ----------
    errors, n : int
        Number k of errors among the t rows seen so far; none are allowed.
    alpha : float
        Probability with which the limit may ever fail.

    Returns
    -------
    float
        A number in [(k+1)/(t+1), 1], rounded up.

    Notes
    -----
    Write M(p) for the quotient and f for the density of Beta(1, 20), F for its distribution function. Then
    :math:`(\ln M)' = \frac{f(p)}{F(p)}(\frac1M - 1) + \frac{tp - k}{p(1-p)}`, and :math:`f/F \le 1/p`, so that M grows
    where ``p > (k+1)/(t+1)``: bisection from there finds the largest p that is not rejected.

    Examples
    --------
    >>> round(anytime_upper_limit(10, 285), 4), round(anytime_upper_limit(300, 10_000), 4)
    (0.0754, 0.0359)

    References
    ----------
    H. Robbins (1970), Statistical methods related to the law of the iterated logarithm.
    """
    t, goal = count("n", n, least=0), -math.log(level("alpha", alpha))
    k = count("errors", errors, least=0)
    if k > t:
        raise ValueError(f"errors must not exceed n = {t}; got {k}.")
    start = min(1.0, float(np.nextafter((k + 1.0) / (t + 1.0), 2.0)))
    if k == t or _surely_rejected(start, k, t, goal):
        return start
    return adjacent_floats(lambda p: p >= 1.0 or _surely_rejected(p, k, t, goal), start, 1.0)[1]


def _surely_rejected(p: float, k: int, t: int, goal: float) -> bool:
    a, b = k + 1.0, t - k + _SMALL
    likelihood = k * math.log(p) + (t - k) * math.log1p(-p)
    mass = -math.expm1(_SMALL * math.log1p(-p)) / _SMALL
    value = math.log(betainc(a, b, p)) + float(betaln(a, b)) - math.log(mass) - likelihood
    slack = _MARGIN + _ROUNDING * (float(gammaln(a + b + 1.0)) - likelihood)
    return value - slack >= goal
