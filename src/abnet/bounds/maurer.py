"""The constant of Maurer's PAC-Bayes theorem."""

import math
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from abnet.bounds.arguments import count

__all__ = ["xi"]

# So many terms at either end are summed one by one; the sum is exact up to twice this n.
_TERMS = 2**18
_SLACK = 1.0 + 1e-9


def xi(n: int) -> float:
    r"""Expected exponential of ``n kl`` between an observed and a true frequency, at its worst.

    .. math:: \xi(n) = \sum_{k=0}^n \binom{n}{k} (k/n)^k (1 - k/n)^{n-k} \;\le\; 2 \sqrt n

    Valid for every n: up to 524,288 the sum is taken as it stands; beyond, the middle terms are replaced by an integral
    that lies above them by about a millionth of the whole. The result is enlarged by 1e-9 of itself, so that
    rounding errors cannot make it too small.

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
    terms *= np.exp(_stirling_error(size) - _stirling_error(k) - _stirling_error(n - k))
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


def _stirling_error(m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``ln m! - ln(sqrt(2πm) (m/e)^m)`` for m >= 1."""
    square = 1.0 / (m * m)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / m
    small = np.minimum(m, 16.0)
    direct = gammaln(small + 1.0) - (small + 0.5) * np.log(small) + small - 0.5 * math.log(2.0 * math.pi)
    return cast(NDArray[np.float64], np.where(m < 16.0, direct, series))
