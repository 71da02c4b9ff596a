"""Maurer's constant ξ(n), the price of a bound for all posteriors at once."""

import math
from functools import lru_cache

import numpy as np

from abnet.bounds.stirling import stirling_error
from abnet.utils.checks import count

__all__ = ["xi"]

# Number of terms at either end that are summed one by one; the whole sum is exact for n up to twice this number.
_TERMS = 2**18
_SLACK = 1.0 + 1e-9


def xi(n: int) -> float:
    r"""Maurer's constant ξ(n), an upper bound on ``E[exp(n kl(k/n, p))]`` for binomial k and every p.

    .. math:: \xi(n) = \sum_{k=0}^n \binom{n}{k} (k/n)^k (1 - k/n)^{n-k} \;\le\; 2 \sqrt n

    Valid for every n. Up to n = 524,288 all terms are summed; beyond that, the middle terms are replaced by an integral
    that exceeds them by about a millionth of the sum. The result is multiplied by 1 + 1e-9, so rounding errors cannot
    make it too small.

    Parameters
    ----------
    n : int
        Number of examples, at least 1.

    Returns
    -------
    float
        A number not below ξ(n).

    Examples
    --------
    >>> round(xi(100), 3), round(xi(10_000), 1)
    (13.21, 126.0)

    References
    ----------
    A. Maurer (2004), A note on the PAC-Bayesian theorem, Theorem 1.
    """
    return _xi(count("n", n))


@lru_cache(maxsize=4096)
def _xi(n: int) -> float:
    # By Stirling's formula with its error e(m), the k-th term is sqrt(n / (2π k (n-k))) exp(e(n) - e(k) - e(n-k)):
    # no large logarithms cancel, unlike in the textbook form, which loses all of the slack at n of a million.
    k = np.arange(1.0, min(n // 2, _TERMS) + 1.0)
    size = np.array([float(n)])
    terms = np.sqrt(n / (2.0 * math.pi * k * (n - k)))
    terms *= np.exp(stirling_error(size) - stirling_error(k) - stirling_error(n - k))
    twice = np.where(2.0 * k == n, 1.0, 2.0)  # the term k = n/2 is its own mirror image
    return _SLACK * (2.0 + float(twice @ terms) + _middle(n, len(k)))


def _middle(n: int, m: int) -> float:
    """Bound the terms m < k < n-m from above.

    The exponential is at most exp(1/(12n)), and 1/sqrt(k(n-k)) falls and then rises in k, so that its sum lies below
    its integral from m to n-m, which is 2 arcsin(1 - 2m/n).
    """
    if m == n // 2:
        return 0.0
    return math.sqrt(n / (2.0 * math.pi)) * math.exp(1.0 / (12.0 * n)) * 2.0 * math.asin(1.0 - 2.0 * m / n)
