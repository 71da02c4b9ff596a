"""Bound on the Gibbs risk for all posteriors at once, and Maurer's constant ξ(n)."""

import math
from functools import lru_cache

import numpy as np

from abnet.bounds.grids import over_arrays
from abnet.bounds.kl_inverse import kl_inverse_upper
from abnet.bounds.rounding import round_up
from abnet.bounds.stirling import stirling_error
from abnet.utils.checks import count, level, nonnegative, probability

__all__ = ["gibbs_bound", "xi"]


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


@over_arrays
def gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""PAC-Bayes-kl bound on the Gibbs risk, for all posteriors at once.

    .. math:: r \le k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K \xi(n) / \delta)}{n}\Big)

    Holds with probability at least 1-δ over n independent examples, for every posterior Q, if the prior P was fixed
    before they were seen. It is never larger than :func:`abnet.bounds.catoni_bound` at its best C.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of priors among which one was chosen by anything computed from these examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> round(gibbs_bound(0.03, 0.0, 1230), 4)
    0.0515

    References
    ----------
    M. Seeger (2002), PAC-Bayesian generalisation error bounds for Gaussian process classification; A. Maurer (2004), A
    note on the PAC-Bayesian theorem.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    kl = nonnegative("kl", kl)
    n = count("n", n)
    delta = level("delta", delta)
    n_candidates = count("n_candidates", n_candidates)
    nats = kl + math.log(n_candidates * xi(n)) - math.log(delta)
    return kl_inverse_upper(empirical_risk, round_up(nats / n))
