r"""Lower limits of a share above every threshold at once, with equal local levels.

The share of rows whose score exceeds a threshold has a Clopper-Pearson limit at each threshold. If the threshold is
chosen with the same rows, the limits have to hold at all thresholds. Dividing δ by their number ignores that
neighbouring counts are nearly equal. The counts are those of an empirical distribution function, so the level η of
each limit at which *all* of them hold with probability 1-δ can be computed (Berk and Jones 1979; Moscovich and Nadler
2017).

With ``L_k`` the lower limit after k of n successes, at the level η, some limit exceeds its share if and only if an
order statistic of n uniform numbers is too small:

.. math:: P(\text{all hold}) = P(U_{(k)} \ge L_k,\; k = 1, \dots, n).

This covers every threshold on the line, also those that were not fixed in advance. Scores with ties only help.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.methods import method
from abnet.utils.checks import count, level

__all__ = ["LARGEST_SAMPLE", "chance_of_all", "chosen_rate_lower", "chosen_rate_upper", "local_level"]

Array = NDArray[np.float64]

LARGEST_SAMPLE = 3000
"""For more rows `local_level` divides δ by the number of thresholds: the limits are close together then."""

# Probabilities below this are left out, which makes the chance smaller.
_NEGLIGIBLE = 1e-18
_MARGIN = 1e-7
# The search for the level stops if the chance of a failure is this share of δ.
_CLOSE = 0.99
_MOST_STEPS = 12


@lru_cache(maxsize=256)
def local_level(n: int, n_thresholds: int, delta: float = 0.05) -> float:
    """Level of the Clopper-Pearson limit at each threshold, so that the limits hold at all thresholds jointly.

    Parameters
    ----------
    n : int
        Number of rows.
    n_thresholds : int
        Number of thresholds that were fixed in advance.
    delta : float
        Maximum probability that any of the limits fails.

    Returns
    -------
    float
        The larger of δ divided by the number of thresholds and the equal local level for all thresholds on the line.
        It depends on n and the number of thresholds, never on the scores.

    Examples
    --------
    >>> local_level(258, 4), round(local_level(258, 100), 5)
    (0.0125, 0.00175)
    """
    n = count("n", n)
    delta = level("delta", delta)
    divided = delta / count("n_thresholds", n_thresholds)
    if n_thresholds == 1 or n > LARGEST_SAMPLE or chance_of_all(n, divided) < 1.0 - delta:
        return divided
    # The chance of a failure is nearly proportional to the level.
    share = divided
    for _ in range(_MOST_STEPS):
        failing = 1.0 - chance_of_all(n, share)
        if _CLOSE * delta <= failing <= delta:
            return max(share, divided)
        share *= (1.0 + _CLOSE) / 2.0 * delta / failing
    return divided


@method
def chosen_rate_lower(successes: int, n: int, thresholds: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    """Lower limit of the share above a threshold that was chosen with the same rows.

    Parameters
    ----------
    successes : int
        Number of rows above the threshold.
    n : int
        Number of rows.
    thresholds : int
        Number of thresholds from which it was chosen, fixed before the rows were seen.
    delta : float
        Maximum probability that the limit fails.
    n_candidates : int
        Number of models compared on the same rows.

    Examples
    --------
    >>> round(chosen_rate_lower(240, 300, 100), 4), round(chosen_rate_lower(240, 300, 1), 4)
    (0.7248, 0.7582)
    """
    level_of_one = local_level(n, thresholds, delta / count("n_candidates", n_candidates))
    return clopper_pearson_lower(successes, n, level_of_one)


@method
def chosen_rate_upper(successes: int, n: int, thresholds: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    """Upper limit of the share above a threshold that was chosen with the same rows; see `chosen_rate_lower`.

    Examples
    --------
    >>> round(chosen_rate_upper(60, 300, 100), 4)
    0.2752
    """
    level_of_one = local_level(n, thresholds, delta / count("n_candidates", n_candidates))
    return clopper_pearson_bound(successes, n, level_of_one)


def chance_of_all(n: int, share: float) -> float:
    r"""Probability that the lower limits of all n + 1 possible counts hold, each computed at the level `share`.

    The number of uniform numbers below ``L_k`` has to be less than k for every k. The number below u is a Poisson
    process, given that n are below 1: its increments between neighbouring limits are independent, and paths that break
    the condition are dropped after each.

    Returns
    -------
    float
        A number in [0, 1], rounded down.

    Examples
    --------
    >>> round(chance_of_all(1, 0.05), 6), round(chance_of_all(100, 0.05), 2)
    (0.95, 0.54)
    """
    successes = np.arange(1.0, n + 1.0)
    limits = betaincinv(successes, n - successes + 1.0, share)
    first = 0  # the number of points that the first entry is about
    chances = np.ones(1)
    reached = 0.0
    for k, limit in enumerate(limits.tolist(), start=1):
        chances = np.convolve(chances, _poisson(n * (limit - reached)))[: k - first]
        above = np.flatnonzero(chances > _NEGLIGIBLE)
        if len(above) == 0:
            return 0.0
        first += int(above[0])
        chances = chances[above[0] : above[-1] + 1]
        reached = limit
    points = np.arange(first, first + len(chances))
    rest = _poisson_weights(n - points, n * (1.0 - reached))
    total = float(chances @ rest) / float(_poisson_weights(np.array([n]), float(n))[0])
    return max(0.0, min(1.0, total) - _MARGIN)


def _poisson(mean: float) -> Array:
    """Probabilities of 0, 1, … events; the tail that is left out is negligible."""
    most = int(mean + 10.0 * math.sqrt(mean) + 18.0)
    return _poisson_weights(np.arange(most + 1), mean)


def _poisson_weights(events: NDArray[np.int64], mean: float) -> Array:
    if mean <= 0.0:
        return np.where(events == 0, 1.0, 0.0)
    return np.asarray(np.exp(events * math.log(mean) - mean - gammaln(events + 1.0)))
