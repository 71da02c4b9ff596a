"""Bounds on the Gibbs risk: the binary kl and its inverses, Maurer's constant, the reported form, Catoni's form.

Catoni's form is trained on too: `catoni_objective` alone takes JAX arrays, and alone imports JAX.
"""

import math
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from abnet.bounds.grids import over_arrays
from abnet.bounds.rounding import adjacent_floats, round_up
from abnet.checks import count, level, nonnegative, positive, probability

__all__ = [
    "binary_kl",
    "catoni_bound",
    "catoni_objective",
    "gibbs_bound",
    "gibbs_bound_frozen",
    "kl_inverse_lower",
    "kl_inverse_upper",
    "xi",
]


# _kl is accurate to about 1e-15 of its value; asking for c and this share more makes "kl(q, p) >= c" certain.
_MARGIN = 1e-13

# Below this the squares inside _kl become denormal and lose their digits.
_TINY = 1e-300


@over_arrays
def binary_kl(q: float, p: float) -> float:
    r"""Divergence between coins of bias ``q`` and ``p``, in nats.

    .. math:: \mathrm{kl}(q \| p) = q \ln\frac{q}{p} + (1 - q) \ln\frac{1 - q}{1 - p}

    The relative error is about 1e-15 everywhere, also where ``q`` and ``p`` nearly agree.

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
        The outer end of the final bracket: either 1, or a ``p`` with ``kl(q, p) >= c``, next to a float where that
        could not be shown.

    Examples
    --------
    >>> round(kl_inverse_upper(0.03, 0.01), 6)
    0.0606
    >>> kl_inverse_upper(0.2, 0.0), kl_inverse_upper(0.2, float("inf"))
    (0.2, 1.0)
    """
    q, c = probability("q", q), nonnegative("c", c)
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
        The outer end of the final bracket: either 0, or a ``p`` with ``kl(q, p) >= c``.

    Examples
    --------
    >>> round(kl_inverse_lower(0.03, 0.01), 6)
    0.011775
    >>> kl_inverse_lower(0.2, 0.0), kl_inverse_lower(0.2, float("inf"))
    (0.2, 0.0)
    """
    q, c = probability("q", q), nonnegative("c", c)
    if c == 0.0 or q == 0.0:
        return q
    target = _surely(c)
    return adjacent_floats(lambda p: _kl(q, p) < target, 0.0, q)[0]


def _surely(c: float) -> float:
    return c * (1.0 + _MARGIN) + _TINY


def _kl(q: float, p: float) -> float:
    # q - p and (1-q) - (1-p) cancel, so each of the two non-negative halves may be completed to x ln(x/y) + y - x.
    return _half(q, p, q - p) + _half(1.0 - q, 1.0 - p, p - q)


def _half(x: float, y: float, difference: float) -> float:
    """Return ``x ln(x/y) + y - x >= 0``, given ``difference = x - y`` with all its digits."""
    if y == 0.0:
        return 0.0 if x == 0.0 else math.inf
    if x == 0.0:
        return y
    v = difference / (x + y)
    if abs(v) < 0.1:
        return difference * v + 2.0 * x * _atanh_excess(v)
    ratio = x / y
    logarithm = math.log(ratio) if ratio < math.inf else math.log(x) - math.log(y)
    return x * logarithm - difference


def _atanh_excess(v: float) -> float:
    """Return ``artanh(v) - v`` for ``|v| < 0.1``; ``ln(x/y) = 2 artanh(v)``, and the difference would cancel."""
    square = v * v
    tail = 0.0
    for odd in range(17, 1, -2):
        tail = square * (tail + 1.0 / odd)
    return v * tail


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


@over_arrays
def gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""PAC-Bayes-kl bound on the Gibbs risk, for all posteriors at once.

    .. math:: r \le k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K \xi(n) / \delta)}{n}\Big)

    With probability at least 1-δ over n independent examples, whatever the posterior Q, if the prior P was fixed before
    they were seen. It is never larger than :func:`abnet.bounds.catoni_bound` at its best C.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
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
    empirical_risk, kl = probability("empirical_risk", empirical_risk), nonnegative("kl", kl)
    n, delta, n_candidates = count("n", n), level("delta", delta), count("n_candidates", n_candidates)
    return kl_inverse_upper(empirical_risk, round_up((kl + math.log(n_candidates * xi(n)) - math.log(delta)) / n))


@over_arrays
def gibbs_bound_frozen(empirical_risk: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Chernoff bound on the Gibbs risk of a frozen posterior, which never learned from these examples.

    .. math:: r \le k^+\Big(\hat r, \frac{\ln(K / \delta)}{n}\Big)

    With probability at least 1-δ over n independent examples, for one posterior fixed before they were seen: no
    divergence and no ξ(n) enter, because there is no union over posteriors. Holds for any loss in [0, 1].

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of posteriors judged on the same examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> round(gibbs_bound_frozen(0.03, 1230), 4)
    0.0435

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables, Theorem 1.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    n, delta, n_candidates = count("n", n), level("delta", delta), count("n_candidates", n_candidates)
    return kl_inverse_upper(empirical_risk, round_up((math.log(n_candidates) - math.log(delta)) / n))


@over_arrays
def catoni_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, C: float | None = None) -> float:
    r"""Catoni's bound on the Gibbs risk, for all posteriors and all C at once; the paper's Theorem 1.

    .. math:: r \le \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL}(Q\|P) + \ln\frac{2\sqrt n}\delta)\big)}{1-e^{-C}}

    With probability at least 1-δ over n independent examples, if the prior P was fixed before they were seen. The
    smallest value over C > 0 equals :math:`k^+(\hat r, \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}{\delta}))`.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    C : float, optional
        Any positive number; by default the best one.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up and clipped at 1.

    Examples
    --------
    >>> round(catoni_bound(0.1, 20.0, 1000), 6)
    0.183887
    >>> round(catoni_bound(0.1, 20.0, 1000, 0.05, 0.7), 6)
    0.183891

    References
    ----------
    L. Fortier-Dubois, G. Letarte, B. Leblanc, F. Laviolette, P. Germain: PAC-Bayesian Learning of Aggregated Binary
    Activated Neural Networks with Probabilities over Representations.
    """
    empirical_risk, kl = probability("empirical_risk", empirical_risk), nonnegative("kl", kl)
    n, delta = count("n", n), level("delta", delta)
    complexity = round_up((kl + math.log(2.0) + 0.5 * math.log(n) - math.log(delta)) / n)
    if C is None:
        return kl_inverse_upper(empirical_risk, complexity)
    return _at(positive("C", C), empirical_risk, complexity)


def _at(C: float, empirical_risk: float, complexity: float) -> float:
    bound = math.expm1(-round_up(C * empirical_risk + complexity)) / math.expm1(-C)
    return min(1.0, max(empirical_risk, round_up(bound)))


def catoni_objective(risk: Any, kl: Any, n: Any, delta: Any, log_c: Any) -> Any:
    r"""Catoni's bound at ``C = exp(log_c)``, the function that learning minimises.

    .. math:: \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}\delta)\big)}{1 - e^{-C}}

    Differentiable in every argument, never clipped: a vacuous bound still shows the way down. All arguments may be
    traced, so that neither the number of rows nor δ is built into a compiled program. Accurate in float32 for ``log_c``
    between -20 and 20. To report a bound, use :func:`gibbs_bound`.

    Parameters
    ----------
    risk : float
        Empirical Gibbs risk.
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples of the bound (not of the batch).
    delta : float
        Probability with which the bound may fail.
    log_c : float
        Logarithm of C, learned along with the posterior.

    Returns
    -------
    Array
        A scalar, of the common type of the arguments.

    Examples
    --------
    >>> print(f"{catoni_objective(0.1, 20.0, 1000, 0.05, -0.356675):.4f}")
    0.1839
    """
    import jax.numpy as jnp

    size = jnp.asarray(n, dtype=jnp.result_type(risk, kl, log_c, float))
    c = jnp.exp(log_c)
    complexity = (kl + jnp.log(2.0) + 0.5 * jnp.log(size) - jnp.log(delta)) / size
    return jnp.expm1(-c * risk - complexity) / jnp.expm1(-c)
