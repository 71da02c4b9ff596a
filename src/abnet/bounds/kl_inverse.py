"""The binary kl divergence and its inverses, rounded outward."""

import math

from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import adjacent_floats
from abnet.utils.checks import nonnegative, probability

__all__ = ["binary_kl", "kl_inverse_lower", "kl_inverse_upper"]


# _kl has a relative error of about 1e-15; requiring kl(q, p) >= c (1 + _MARGIN) makes sure that kl(q, p) >= c.
_MARGIN = 1e-13

# Below this the squares inside _kl become denormal and lose their digits.
_TINY = 1e-300


@over_arrays
def binary_kl(q: float, p: float) -> float:
    r"""KL divergence between Bernoulli distributions with parameters ``q`` and ``p``, in nats.

    .. math:: \mathrm{kl}(q \| p) = q \ln\frac{q}{p} + (1 - q) \ln\frac{1 - q}{1 - p}

    The relative error is about 1e-15 everywhere, even if ``q`` and ``p`` are nearly equal.

    Parameters
    ----------
    q, p : float
        Probabilities in [0, 1].

    Returns
    -------
    float
        A number in [0, inf].

    Examples
    --------
    >>> binary_kl(0.5, 0.25)
    0.14384103622589042
    >>> binary_kl(0.0, 0.0), binary_kl(0.5, 1.0)
    (0.0, inf)
    """
    return _kl(probability("q", q), probability("p", p))


@over_arrays
def kl_inverse_upper(q: float, c: float) -> float:
    r"""Largest ``p`` with ``kl(q, p) <= c``, rounded up.

    .. math:: k^+(q, c) = \max\{p : \mathrm{kl}(q \| p) \le c\}

    Parameters
    ----------
    q : float
        Probability in [0, 1].
    c : float
        Divergence in [0, inf].

    Returns
    -------
    float
        The upper end of the final bracket: either 1, or the smallest float ``p`` for which ``kl(q, p) >= c`` is
        certain.

    Examples
    --------
    >>> round(kl_inverse_upper(0.03, 0.01), 6)
    0.0606
    >>> kl_inverse_upper(0.2, 0.0), kl_inverse_upper(0.2, float("inf"))
    (0.2, 1.0)
    """
    q = probability("q", q)
    c = nonnegative("c", c)
    if c == 0.0 or q == 1.0:
        return q
    target = _surely(c)
    return adjacent_floats(lambda p: _kl(q, p) >= target, q, 1.0)[1]


@over_arrays
def kl_inverse_lower(q: float, c: float) -> float:
    r"""Smallest ``p`` with ``kl(q, p) <= c``, rounded down.

    .. math:: k^-(q, c) = \min\{p : \mathrm{kl}(q \| p) \le c\}

    Parameters
    ----------
    q : float
        Probability in [0, 1].
    c : float
        Divergence in [0, inf].

    Returns
    -------
    float
        The lower end of the final bracket: either 0, or the largest float ``p`` for which ``kl(q, p) >= c`` is certain.

    Examples
    --------
    >>> round(kl_inverse_lower(0.03, 0.01), 6)
    0.011775
    >>> kl_inverse_lower(0.2, 0.0), kl_inverse_lower(0.2, float("inf"))
    (0.2, 0.0)
    """
    q = probability("q", q)
    c = nonnegative("c", c)
    if c == 0.0 or q == 0.0:
        return q
    target = _surely(c)
    return adjacent_floats(lambda p: _kl(q, p) < target, 0.0, q)[0]


def _surely(c: float) -> float:
    """A value of `_kl` that proves a divergence of at least c."""
    return c * (1.0 + _MARGIN) + _TINY


def _kl(q: float, p: float) -> float:
    # q - p and (1-q) - (1-p) cancel, so each of the two non-negative halves may be completed to x ln(x/y) + y - x.
    return _half(q, p, q - p) + _half(1.0 - q, 1.0 - p, p - q)


def _half(x: float, y: float, difference: float) -> float:
    """Return ``x ln(x/y) + y - x >= 0``, given ``difference = x - y`` with all its digits."""
    if x == 0.0:
        return y
    if y == 0.0:
        return math.inf
    v = difference / (x + y)
    if abs(v) < 0.1:
        return difference * v + 2.0 * x * _atanh_excess(v)
    ratio = x / y
    if ratio < math.inf:
        logarithm = math.log(ratio)
    else:  # y is so small that the quotient overflows
        logarithm = math.log(x) - math.log(y)
    return x * logarithm - difference


def _atanh_excess(v: float) -> float:
    """Return ``artanh(v) - v`` for ``|v| < 0.1``; ``ln(x/y) = 2 artanh(v)``, and the difference would cancel."""
    square = v * v
    tail = 0.0
    for odd in range(17, 1, -2):
        tail = square * (tail + 1.0 / odd)
    return v * tail
