r"""Anytime-valid statements about a stream of errors: they hold at all times at once, no matter how often one looks.

``Z_t`` is 1 if labelled row t was misclassified; k is the number of errors among the first t rows. A mixture of
likelihood ratios against one error rate is a non-negative (super)martingale with mean at most 1 at this rate, so the
probability that it ever reaches 1/α is at most α (Ville's inequality).
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaln, gammaln

from abnet.bounds.rounding import adjacent_floats
from abnet.utils.checks import count, level

__all__ = ["anytime_upper_limit", "log_evidence"]

Array = NDArray[np.float64]

# The mixtures: Beta(1, 5) truncated to [ε₀, 1] to detect a larger error, Beta(1, 20) truncated to [0, p] for the limit.
_LARGE = 5.0
_SMALL = 20.0

# The relative error of incomplete beta functions is below _MARGIN; values below _TINY may have underflowed.
_MARGIN = 1e-9
_TINY = 1e-290
_ROUNDING = 2.0**-50


def log_evidence(errors: ArrayLike, n: ArrayLike, error: float) -> Array:
    r"""Logarithm of the evidence that an error rate exceeds the promised one, rounded down.

    .. math:: E_t = \int_{ε_0}^1 \Big(\frac{q}{ε_0}\Big)^k \Big(\frac{1-q}{1-ε_0}\Big)^{t-k} dπ(q),\qquad
              π = \mathrm{Beta}(1, 5) \text{ truncated to } [ε_0, 1]

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
    a = k + 1.0
    b = t - k + _LARGE
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

    It is ``Σ_j Π_{i<j} (1-ε)(a+b+i)/(b+1+i)``, a sum of positive terms; leaving out the last ones gives a lower bound.
    """
    ratio = (1.0 - eps) * (a + b) / (b + 1.0)
    terms = np.arange(min(50 + int(40.0 / (1.0 - ratio)), 10**6))
    return 1.0 + float(np.cumprod((1.0 - eps) * (a + b + terms) / (b + 1.0 + terms)).sum())


def anytime_upper_limit(errors: int, n: int, alpha: float = 0.05) -> float:
    r"""Upper limit of a constant error rate that stays valid if it is recomputed after every row.

    .. math:: \max\Big\{p : \frac{\int_0^p q^k (1-q)^{t-k} dπ_p(q)}{p^k (1-p)^{t-k}} < \frac1α\Big\},\qquad
              π_p = \mathrm{Beta}(1, 20) \text{ truncated to } [0, p]

    If every row is misclassified with the same probability given the rows before it, then with probability at least 1-α
    the limit is above this probability at all times.

    Parameters
    ----------
    errors, n : int
        Number k of errors, and number t of rows seen so far; both may be 0.
    alpha : float
        Maximum probability that the limit ever fails.

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
    t = count("n", n, least=0)
    threshold = -math.log(level("alpha", alpha))
    k = count("errors", errors, least=0)
    if k > t:
        raise ValueError(f"errors must not exceed n = {t}; got {k}.")
    start = min(1.0, float(np.nextafter((k + 1.0) / (t + 1.0), 2.0)))
    if k == t or _surely_rejected(start, k, t, threshold):
        return start
    return adjacent_floats(lambda p: p >= 1.0 or _surely_rejected(p, k, t, threshold), start, 1.0)[1]


def _surely_rejected(p: float, k: int, t: int, threshold: float) -> bool:
    """Whether the logarithm of the evidence against the rate p reaches the threshold, all rounding errors allowed
    for."""
    a = k + 1.0
    b = t - k + _SMALL
    likelihood = k * math.log(p) + (t - k) * math.log1p(-p)
    mass = -math.expm1(_SMALL * math.log1p(-p)) / _SMALL
    value = math.log(betainc(a, b, p)) + float(betaln(a, b)) - math.log(mass) - likelihood
    slack = _MARGIN + _ROUNDING * (float(gammaln(a + b + 1.0)) - likelihood)
    return value - slack >= threshold
