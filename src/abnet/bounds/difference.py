r"""Two models on the same rows: a bound on the difference of their error rates, and the sign test.

Among n rows there are a where only model A is wrong, with the probability ``π_a`` each, and b where only model B is
wrong, with the probability ``π_b``. The bound is about ``Δ = R_A - R_B = π_a - π_b``; the rate of disagreement
``θ = π_a + π_b`` is a nuisance. Following Berger and Boos (1994), θ is restricted to an interval that contains it with
probability 1-β, and the worst case there counts:

.. math:: p(Δ) = β + \max_{θ} P_{θ,Δ}(T \le T_{\text{observed}}),
          \qquad T(a, b) = a - b + z \sqrt{a + b + z^2/4}.

T approximates an upper limit of ``nΔ``. It only puts the possible counts in order, in advance, and any order would be
valid. T does not fall in a and does not grow in b, so the probability falls in ``π_a`` and grows in ``π_b``. Therefore:

- If one Δ is rejected (``p(Δ) <= δ``), every larger Δ is.
- For all θ between ``θ_1`` and ``θ_2`` the probability is at most that at ``π_a = (θ_1 + Δ)/2``, ``π_b = (θ_2 - Δ)/2``.
  So some intervals of θ bound the maximum; those that do not decide are halved.
- Given d disagreements, a is binomial. Neighbouring d can share the probability at the smallest of them with the region
  of the largest, which limits the cost for many rows.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, ndtri, xlogy

from abnet.bounds.clopper_pearson import binomial_tail, clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.methods import method
from abnet.bounds.stirling import stirling_error
from abnet.utils.checks import count, level, tally

__all__ = ["difference_bound", "sign_test"]

Array = NDArray[np.float64]

# Share of δ for the interval of the rate of disagreement.
_NUISANCE = 0.02
# Rates of disagreement at which the limit is first approximated; intervals of them with which it is then proved.
_POINTS = 5
_INTERVALS = 64
_MOST_INTERVALS = 192
# Steps of the search, in standard deviations of the observed difference.
_STEP = 0.03
# Numbers of disagreements that are told apart.
_BLOCKS = 400
# The relative error of probabilities that are not very small.
_MARGIN = 1e-9


@method
def difference_bound(only_a: int, only_b: int, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Bound on ``R_A - R_B`` of two models on the same n rows; negative if A is certified to have a lower error rate.

    The exact test of Berger and Boos, inverted; the module's docstring has the formulas. It holds with probability at
    least 1-δ over n independent rows that were held out from the training and selection of both models.

    Parameters
    ----------
    only_a, only_b : int
        Rows on which only A is wrong, and only B.
    n : int
        Number of rows.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of comparisons on the same rows.

    Returns
    -------
    float
        A number in [-1, 1], rounded up; not below the observed difference.

    Examples
    --------
    >>> round(difference_bound(10, 40, 1000), 3), round(difference_bound(10, 12, 1000), 3)
    (-0.018, 0.007)

    References
    ----------
    R. L. Berger, D. D. Boos (1994), P values maximized over a confidence set for the nuisance parameter; R. J. Buehler
    (1957), Confidence intervals for the product of two binomial parameters.
    """
    a = tally("only_a", only_a)
    b = tally("only_b", only_b)
    n = count("n", n)
    if a + b > n:
        raise ValueError(f"only_a + only_b must not exceed n = {n}; got {a + b}.")
    share = level("delta", delta) / count("n_candidates", n_candidates)
    beta = _NUISANCE * share
    lowest = clopper_pearson_lower(a + b, n, beta / 2.0)
    highest = clopper_pearson_bound(a + b, n, beta / 2.0)
    z = -float(ndtri(share))
    region = _Region(n, z, a - b + z * math.sqrt(a + b + z * z / 4.0))
    target = (share - beta) * (1.0 - _MARGIN)

    step = _STEP * math.sqrt(highest / n)
    proposed = step + _approximate_limit(region, lowest, highest, target, (a - b) / n, step / 3.0)
    # The difference is at most the rate of disagreement, so nothing above `highest` needs a proof.
    while proposed < highest and not _is_rejected(proposed, region, lowest, highest, target):
        step *= 2.0
        proposed += step
    return min(proposed, highest)


@method
def sign_test(only_a: int, only_b: int, delta: float = 0.05, *, n_candidates: int = 1) -> float | None:
    r"""Return 0 if the exact one-sided sign test shows that A has a lower error rate than B, and None otherwise.

    .. math:: \Pr(\mathrm{Bin}(n_{10} + n_{01}, 1/2) \le n_{10}) \le δ/K

    Examples
    --------
    >>> sign_test(10, 40), sign_test(10, 12)
    (0.0, None)
    """
    if binomial_tail(only_a, only_a + only_b, 0.5) > delta / n_candidates:
        return None
    return 0.0


@dataclass(frozen=True)
class _Region:
    """The results (a, b) among n rows whose statistic T does not exceed the observed one."""

    n: int
    z: float
    observed: float

    def most_a(self, disagreements: Array) -> Array:
        """Largest a in the region for each number of disagreements; it does not fall."""
        free = disagreements + self.observed - self.z * np.sqrt(disagreements + self.z * self.z / 4.0)
        slack = 1e-9 + self.n * 2.0**-48
        return np.asarray(np.maximum.accumulate(np.floor(free / 2.0 + slack)))

    def chance(self, only_a: float, only_b: float) -> float:
        """Probability of the region if a row is wrong for A alone, or for B alone, with these probabilities; rounded
        up."""
        rate = min(1.0, only_a + only_b)
        if rate == 0.0:
            return float(self.most_a(np.zeros(1))[0] >= 0.0)
        center = self.n * rate
        reach = (3.5 + abs(self.z)) * (math.sqrt(center * (1.0 - rate)) + 1.0)
        first = max(0, int(center - reach))
        last = min(self.n, int(center + reach))
        d = np.arange(first, last + 1, dtype=np.float64)
        starts = np.arange(0, len(d), -(-len(d) // _BLOCKS))
        ends = np.append(starts[1:], len(d)) - 1
        weights = np.add.reduceat(_binomial_weights(d, self.n, rate), starts)
        tails = _binomial_cdf(self.most_a(d)[ends], d[starts], only_a / rate)
        inside = float(weights @ tails)
        outside = 0.0
        if first > 0:
            outside += float(betaincc(first, self.n - first + 1.0, rate))
        if last < self.n:
            outside += float(betainc(last + 1.0, self.n - last, rate))
        return (inside + outside) * (1.0 + _MARGIN + self.n * 2.0**-48)


def _binomial_weights(k: Array, n: int, p: float) -> Array:
    """``P(Bin(n, p) = k)``, by Stirling's formula with its error."""
    if p == 1.0:
        return np.asarray(np.where(k == n, 1.0, 0.0))
    rest = n - k
    kl = xlogy(k, np.maximum(k, 1.0) / (n * p)) + xlogy(rest, np.maximum(rest, 1.0) / (n * (1.0 - p)))
    sizes = 2.0 * math.pi * np.maximum(k, 1.0) * np.maximum(rest, 1.0) / n
    errors = stirling_error(np.array([float(n)])) - _stirling_or_zero(k) - _stirling_or_zero(rest)
    at_an_end = (k == 0.0) | (rest == 0.0)
    return np.asarray(np.exp(np.where(at_an_end, 0.0, errors - 0.5 * np.log(sizes)) - kl))


def _stirling_or_zero(m: Array) -> Array:
    return np.where(m == 0.0, 0.0, stirling_error(np.maximum(m, 1.0)))


def _binomial_cdf(k: Array, n: Array, p: float) -> Array:
    """``P(Bin(n, p) <= k)``."""
    inner = np.clip(k, 0.0, np.maximum(n - 1.0, 0.0))
    tails = betaincc(inner + 1.0, np.maximum(n - inner, 1.0), min(1.0, p))
    return np.asarray(np.where(k < 0.0, 0.0, np.where(k >= n, 1.0, tails)))


def _chance_within(region: _Region, difference: float, low: float, high: float) -> float:
    """Bound on the probability of the region for all rates of disagreement from `low` to `high`."""
    only_a = max(0.0, math.nextafter((low + difference) / 2.0, 0.0))
    only_b = max(0.0, math.nextafter((high - difference) / 2.0, 1.0))
    return region.chance(only_a, only_b)


def _approximate_limit(
    region: _Region, lowest: float, highest: float, target: float, observed: float, tolerance: float
) -> float:
    """A difference that is probably just rejected, from a few rates of disagreement."""

    def is_rejected_at_points(difference: float) -> bool:
        rates = np.linspace(max(lowest, abs(difference)), highest, _POINTS).tolist()
        return all(_chance_within(region, difference, rate, rate) <= target for rate in rates)

    low = observed
    high = highest
    while high - low > tolerance:
        middle = (low + high) / 2.0
        if is_rejected_at_points(middle):
            high = middle
        else:
            low = middle
    return high


def _is_rejected(difference: float, region: _Region, lowest: float, highest: float, target: float) -> bool:
    """Whether the probability of the region is proved to be at most `target` at every rate of disagreement."""
    lowest = max(lowest, abs(difference))
    if lowest > highest:
        return True
    ends = np.linspace(lowest, highest, _INTERVALS + 1).tolist()
    undecided = list(pairwise(ends))
    n_evaluated = 0
    while undecided:
        low, high = undecided.pop()
        n_evaluated += 1
        if _chance_within(region, difference, low, high) <= target:
            continue
        if n_evaluated + len(undecided) >= _MOST_INTERVALS:
            return False
        middle = (low + high) / 2.0
        undecided += [(low, middle), (middle, high)]
    return True
