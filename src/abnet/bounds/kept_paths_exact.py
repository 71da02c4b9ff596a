r"""Bounds on a vote of T sampled paths that are drawn once and kept, from exact binomial moments.

The argument is that of `abnet.bounds.sampled`: with ``p(x, y)`` the expected loss of a path on one example and
``g(p)`` a bound on the probability that T independent paths have a mean loss of 1/2 or more, every τ with

    ``g(τ) <= δ'``  and  ``g(p)/p^j`` increasing on (0, τ]

bounds the error of the kept vote by ``E[p^j]/τ^j``, with probability 1-δ' over the draw of the paths. There, g is
Chernoff's bound; this file has two smaller ones.

**Paths that output a sign** (losses 0 or 1): the binomial tail itself,
``g(p) = P(Bin(T, p) >= T/2)``. It is the integral of ``f(x) ∝ x^{k-1} (1-x)^{T-k}``, k = ⌈T/2⌉, and ``g/p^j`` grows as
long as ``f(x)/x^{j-1}`` does, that is up to ``(k-j)/(T-j)``.

**Paths that output a number in [-1, 1]**, such as the conditional mean of the last layer (losses anywhere in [0, 1]):
the binomial tail is *not* a bound for them. A single path with loss 1/2 in four of five cases, and loss 0 otherwise,
has p = 0.4, but its vote errs with probability 0.8. But a sum of independent losses is below the binomial in convex
order (Hoeffding 1963), so for every integer a < T/2

    ``g(p) = E[(Bin(T, p) - a)_+] / (T/2 - a)``,

is a bound, and for the best a, which depends only on T and δ', it is never worse than Chernoff's. ``g/p`` increases
because the expectation is convex in p and 0 at 0; its second derivative is proportional to ``p^{a-1} (1-p)^{T-1-a}``,
so ``g/p²`` increases up to ``(a-1)/(T-2)``.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from abnet.bounds.rounding import adjacent_floats, round_up
from abnet.utils.checks import count, level, probability

__all__ = [
    "kept_paths_bounds",
    "kept_paths_threshold",
    "kept_signs_threshold",
    "kept_vote_bound",
]

# The relative error of betainc is below this.
_MARGIN = 1e-9
# Number of integers a that are tried, dense near T/2, where the best one is.
_CANDIDATES = 256


def kept_signs_threshold(n_paths: int, delta_prime: float, *, order: int = 1, n_candidates: int = 1) -> float:
    r"""Threshold τ for a vote of T kept paths *that output signs*: it rarely errs on rows with expected loss below τ.

    .. math:: τ = \max\{p : \Pr(\mathrm{Bin}(T, p) \ge T/2) \le δ'/K\}, \qquad τ \le \frac{\lceil T/2 \rceil - j}{T - j}

    Parameters
    ----------
    n_paths : int
        Number T of paths that vote. A tie counts as an error.
    delta_prime : float
        Maximum probability, over the draw of the paths, that a bound computed with τ fails.
    order : {1, 2}
        The power j of the loss whose mean is divided by ``τ^j``.
    n_candidates : int
        Number K of models with paths of their own, one of which is reported.

    Returns
    -------
    float
        A number in [0, 1/2), rounded down.

    Examples
    --------
    >>> [round(1 / kept_signs_threshold(T, 0.005), 2) for T in (25, 100, 1000)]
    [3.84, 2.71, 2.18]
    """
    T = count("n_paths", n_paths)
    share = level("delta_prime", delta_prime) / count("n_candidates", n_candidates)
    return _signs_threshold(T, share, _order(order))


def kept_paths_threshold(n_paths: int, delta_prime: float, *, order: int = 1, n_candidates: int = 1) -> float:
    r"""Threshold τ for a vote of T kept paths that output numbers in [-1, 1]; see :func:`kept_signs_threshold`.

    .. math:: τ = \max\Big\{p : \min_{a < T/2} \frac{\mathbf E[(\mathrm{Bin}(T, p) - a)_+]}{T/2 - a} \le δ'/K\Big\}

    For j = 2 only those a are used for which ``p <= (a-1)/(T-2)``.

    Parameters
    ----------
    n_paths, delta_prime, order, n_candidates
        As for :func:`kept_signs_threshold`.

    Returns
    -------
    float
        A number in [0, 1/2), rounded down.

    Examples
    --------
    >>> [round(1 / kept_paths_threshold(T, 0.005), 2) for T in (25, 100, 1000)]
    [4.25, 2.79, 2.2]

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables; V. Bentkus (2004), On
    Hoeffding's inequalities.
    """
    T = count("n_paths", n_paths)
    share = level("delta_prime", delta_prime) / count("n_candidates", n_candidates)
    return _paths_threshold(T, share, _order(order))


def kept_vote_bound(risk: float, threshold: float, *, order: int = 1) -> float:
    r"""Bound on the error of a vote of T kept paths, from its risk and a threshold τ.

    .. math:: R(\mathrm{sgn}\,\hat F_u) \le \mathbf E[p^j] / τ^j

    With probability at least 1-δ' over the draw of the paths, which must not depend on any data.

    Parameters
    ----------
    risk : float
        For j = 1 the Gibbs risk, for j = 2 the mean of the product of two independent paths' losses; or an upper bound.
    threshold : float
        τ from :func:`kept_paths_threshold` for this order, or from :func:`kept_signs_threshold` if the paths output
        signs.
    order : {1, 2}
        The power j.

    Examples
    --------
    >>> round(kept_vote_bound(0.03, kept_paths_threshold(100, 0.005)), 4)
    0.0837
    >>> round(kept_vote_bound(0.01, kept_signs_threshold(100, 0.005, order=2), order=2), 4)
    0.0735
    """
    risk = probability("risk", risk)
    if threshold <= 0.0:
        return 1.0
    return min(1.0, round_up(risk / threshold ** _order(order)))


def kept_paths_bounds(
    gibbs_risk: float, tandem_risk: float, n_paths: int, delta_prime: float, *, n_candidates: int = 1
) -> tuple[float, float]:
    r"""First- and second-order bound on the vote of T kept paths; both fail on one common event of probability δ'.

    .. math:: R(\mathrm{sgn}\,\hat F_u) \le r/τ, \qquad R(\mathrm{sgn}\,\hat F_u) \le \mathbf E[p^2]/τ^2

    The event concerns the rows whose expected loss is below τ, so the two orders share it only if they use the same τ.
    The function uses the smaller of the two thresholds, which is valid for both.

    Parameters
    ----------
    gibbs_risk, tandem_risk : float
        The risks of the two orders, as for :func:`kept_vote_bound`.
    n_paths, delta_prime, n_candidates
        As for :func:`kept_paths_threshold`.

    Examples
    --------
    >>> [round(bound, 4) for bound in kept_paths_bounds(0.03, 0.01, 100, 0.005)]
    [0.0837, 0.0778]
    """
    first = kept_paths_threshold(n_paths, delta_prime, order=1, n_candidates=n_candidates)
    second = kept_paths_threshold(n_paths, delta_prime, order=2, n_candidates=n_candidates)
    if second == 0.0:  # too few paths for a second-order bound: only the first-order bound uses the event
        return kept_vote_bound(gibbs_risk, first), 1.0
    tau = min(first, second)
    return kept_vote_bound(gibbs_risk, tau), kept_vote_bound(tandem_risk, tau, order=2)


def _order(order: int) -> int:
    if count("order", order) > 2:
        raise ValueError(f"order must be 1 or 2; got {order}.")
    return order


@lru_cache(maxsize=256)
def _signs_threshold(T: int, share: float, order: int) -> float:
    k = math.ceil(T / 2)
    if order < T:
        growth_end = max((k - order) / (T - order), 0.0)
    elif order == 1:  # a single path has g(p) = p: the ratio g/p is constant, which suffices
        growth_end = 0.5
    else:
        growth_end = 0.0

    def misled(p: float) -> bool:
        return bool(betainc(float(k), T - k + 1.0, p) > share * (1.0 - _MARGIN))

    tau = adjacent_floats(misled, 0.0, 0.5)[0]
    return min(tau, growth_end)


@lru_cache(maxsize=256)
def _paths_threshold(T: int, share: float, order: int) -> float:
    a = _whole_numbers(T)

    def misled(p: float) -> bool:
        usable = a
        if order == 2:  # g/p² may stop increasing at (a - 1)/(T - 2); for a = 0 it decreases everywhere
            usable = a[(a >= 1.0) & (a - 1.0 >= p * (T - 2))]
        return not bool(np.any(_hinge(T, p, usable) <= share))

    return adjacent_floats(misled, 0.0, 0.5)[0]


def _whole_numbers(T: int) -> NDArray[np.float64]:
    top = math.ceil(T / 2)
    gaps = np.unique(np.ceil(np.geomspace(1.0, top, _CANDIDATES)))
    return np.asarray(top - np.minimum(gaps, top))


def _hinge(T: int, p: float, a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``E[(Bin(T, p) - a)_+] / (T/2 - a)``, rounded up, from two tails."""
    # Σ_{k>a} k P(Bin(T, p) = k) = T p P(Bin(T-1, p) >= a), which is T p for a = 0.
    first = T * p * np.where(a > 0.0, betainc(np.maximum(a, 1.0), np.maximum(T - a, 1.0), p), 1.0)
    second = a * betainc(a + 1.0, T - a, p)
    return np.asarray((first * (1.0 + _MARGIN) - second * (1.0 - _MARGIN)) / (T / 2.0 - a))
