r"""Bounds on the error of one network that was drawn from a posterior: with ξ(n), and with the one-sided ξ⁺(n, p).

Let p be the true error of a network and ``k/n`` its observed error. Only observed errors below p can make an upper
bound fail, so it suffices to bound the moment of the one-sided divergence,

.. math:: \mathbf E\, e^{n\,\mathrm{kl}^+(k/n \| p)}
          \le 1 + \sum_{k \le np} \binom nk p^k (1-p)^{n-k} e^{n\,\mathrm{kl}(k/n \| p)}
          = 1 + \sum_{k \le np} \binom nk (k/n)^k (1-k/n)^{n-k} = ξ^+(n, p),

which is about half of ξ(n) at p = 1/2 and less for smaller p. ξ(n) bounds the two-sided moment, and so this one too;
the code uses the smaller of the two.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.kl_inverse import kl_inverse_upper
from abnet.bounds.maurer_xi import xi
from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import OUTWARD
from abnet.utils.checks import count, level, probability, real

__all__ = ["drawn_network_bound", "single_network_bound", "xi_plus"]


@over_arrays
def single_network_bound(
    empirical_error: float, log_density_ratio: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Disintegrated PAC-Bayes bound on the error of a network ``h`` drawn once from the posterior.

    .. math:: \mathrm{kl}(\hat R(h) \| R(h)) \le \frac1n \Big(\ln\frac{dQ}{dP}(h) + \ln\frac{K\xi(n)}\delta\Big)_+

    Holds with probability at least 1-δ over the n examples and the draw jointly. There is no factor 2 and no sampling
    at prediction. It does not hold for all posteriors at once: draw the network last, with a key of its own, after
    everything else is fixed. For Q = N(w, I), P = N(v, I) and h = w + ε, the log-density ratio is :math:`(\|w + ε -
    v\|^2 - \|ε\|^2)/2`.

    Parameters
    ----------
    empirical_error : float
        Share of the n examples that the drawn network gets wrong.
    log_density_ratio : float
        ``ln dQ/dP`` at the drawn network; may be negative.
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of draws, or of settings, among which one was chosen.

    Returns
    -------
    float
        A number in [empirical_error, 1], rounded up.

    Examples
    --------
    >>> round(single_network_bound(0.05, 12.0, 1000), 4)
    0.1035
    >>> single_network_bound(0.05, -1000.0, 1000)
    0.05

    References
    ----------
    O. Rivasplata, I. Kuzborskij, C. Szepesvari, J. Shawe-Taylor (2020), PAC-Bayes analysis beyond the usual bounds.
    """
    empirical_error = probability("empirical_error", empirical_error)
    ratio = real("log_density_ratio", log_density_ratio)
    n = count("n", n)
    delta = level("delta", delta)
    n_candidates = count("n_candidates", n_candidates)
    price = math.log(n_candidates * xi(n)) - math.log(delta)
    return _inverse(empirical_error, n, ratio, price)


# More terms than this are replaced by an integral, which exceeds their sum by about a thousandth of it.
_TERMS = 2**20


def xi_plus(n: int, p: float) -> float:
    r"""Constant of the one-sided bound, rounded up.

    .. math:: ξ^+(n, p) = \min\Big(1 + \sum_{k \le np} \binom nk (k/n)^k (1-k/n)^{n-k},\; ξ(n)\Big)

    Sums of more than a million terms are replaced by an integral that is not smaller.

    Parameters
    ----------
    n : int
        Number of examples.
    p : float
        Error rate in [0, 1].

    Examples
    --------
    >>> round(xi_plus(100, 0.15), 3), round(xi_plus(100, 1.0), 2)
    (4.577, 13.21)
    """
    n = count("n", n)
    p = probability("p", p)
    last = min(n, int(n * p * OUTWARD))
    if last >= _TERMS:
        return (1.0 + _integral(n, last)) * (1.0 + 1e-9)
    sums = _prefix_sums(n, min(n + 1, _block(last)))
    constant = 1.0 + float(sums[last])
    if len(sums) == n + 1:  # the sum of all terms is ξ(n)
        constant = min(constant, float(sums[-1]))
    # Each logarithm has an error of a few units in the last place, and the running sums accumulate these errors.
    return constant * (1.0 + 1e-9 + 4e-15 * len(sums))


def drawn_network_bound(
    errors: int, n: int, log_density_ratio: float, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Disintegrated bound on the error of a network h that was drawn once from a trained posterior.

    .. math:: R(h) \le \max\Big\{p : n\,\mathrm{kl}(\hat R(h) \| p) \le
              \Big(\ln\frac{dQ}{dP}(h) + \ln\frac{K ξ^+(n, p)}{δ}\Big)_+\Big\}

    Holds with probability at least 1-δ over the n examples and the draw jointly. It has the same conditions as
    :func:`abnet.bounds.single_network_bound` and is never larger.

    Parameters
    ----------
    errors : int
        Number of the n examples that the drawn network gets wrong.
    n : int
        Number of examples.
    log_density_ratio : float
        ``ln dQ/dP`` at the drawn network; may be negative.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of draws, or of settings, among which one was chosen.

    Returns
    -------
    float
        A number in [errors / n, 1], rounded up.

    Notes
    -----
    Start with the root for ξ⁺(n, 1), and compute the next root with ξ⁺ at the last one. As ξ⁺ increases with p, every
    root is an upper bound on the largest solution. The roots decrease to it, so stopping early is safe.

    Examples
    --------
    >>> round(drawn_network_bound(5, 100, 1.0), 4), round(drawn_network_bound(50, 1000, 12.0), 4)
    (0.1556, 0.101)

    References
    ----------
    O. Rivasplata, I. Kuzborskij, C. Szepesvari, J. Shawe-Taylor (2020), PAC-Bayes analysis beyond the usual bounds.
    """
    errors = count("errors", errors, least=0)
    n = count("n", n)
    ratio = real("log_density_ratio", log_density_ratio)
    if errors > n:
        raise ValueError(f"errors must not exceed n = {n}; got {errors}.")
    price = math.log(count("n_candidates", n_candidates)) - math.log(level("delta", delta))
    # Once two iterates have the same number of terms in ξ⁺ the loop ends, so it is short; any number of iterations is
    # valid.
    bound = 1.0
    for _ in range(200):
        smaller = _inverse(errors / n, n, ratio, price + math.log(xi_plus(n, bound)))
        if smaller >= bound:
            break
        bound = smaller
    return bound


def _inverse(error: float, n: int, ratio: float, price: float) -> float:
    """``k⁺(error, (ratio + price)_+ / n)``, rounded up."""
    # The two terms may cancel, so the slack is relative to the larger one, not to the sum.
    nats = ratio + price + (OUTWARD - 1.0) * max(abs(ratio), abs(price))
    return kl_inverse_upper(error, max(0.0, nats / n))


def _block(last: int) -> int:
    """Number of terms to compute so that term `last` is among them: a power of two, so that few arrays are cached."""
    return max(1024, 2 ** (last + 1).bit_length())


def _integral(n: int, last: int) -> float:
    """Bound ``t_0 + ... + t_last`` from above, for last < n; for last = n, ``ξ(n) - 1``.

    By Stirling's formula, ``t_k <= exp(1/(12n)) sqrt(n/(2π k (n-k)))``, which falls up to k = n/2 and then rises: its
    sum from 1 to ``last`` lies below its integral from 0 to ``last + 1``.
    """
    angle = 2.0 * math.asin(math.sqrt(min(1.0, (last + 1.0) / n)))
    return 1.0 + math.exp(1.0 / (12.0 * n)) * math.sqrt(n / (2.0 * math.pi)) * angle


@lru_cache(maxsize=8)
def _prefix_sums(n: int, terms: int) -> NDArray[np.float64]:
    r"""Sums of ``t_0 ... t_k`` for k < terms, ``t_k`` the k-th term of ξ(n).

    With ``a_k = (1 + 1/k)^k`` and ``a_0 = 1``, neighbours have the ratio ``t_{k+1}/t_k = a_k / a_{n-k-1}``: no
    factorial.
    """
    k = np.arange(0.0, terms - 1.0)
    steps = _log_a(k) - _log_a(n - 1.0 - k)
    return np.asarray(np.cumsum(np.exp(np.concatenate([[0.0], np.cumsum(steps)]))))


def _log_a(k: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(k * np.log1p(1.0 / np.maximum(k, 0.5)))
