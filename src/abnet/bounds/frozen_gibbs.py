r"""Bound on the Gibbs risk of a frozen posterior, from the mean of independent losses in [0, 1].

A sum of n independent losses in [0, 1] with the mean r is below ``Bin(n, r)`` in convex order (Hoeffding 1963, and
Hoeffding 1956 for losses with different means). A hinge ``(t - x)_+`` is convex, so for every ``t > s``

.. math:: P(S \le s) \le \frac{E(t - S)_+}{t - s} \le \frac{E(t - \mathrm{Bin}(n, r))_+}{t - s}.

The smallest of these is at most δ if and only if s does not exceed the expected shortfall of the binomial, the mean of
its lower δ-tail (Rockafellar and Uryasev 2000):

.. math:: \mathrm{ES}_δ(n, r) = \max_t \Big\{ t - \tfrac1δ E(t - \mathrm{Bin}(n, r))_+ \Big\},

where the best t is the δ-quantile. Chernoff's bound is an exponential function in place of the hinge. An exponential
function is a mixture of hinges, so it is never smaller.
"""

import math

import numpy as np
from scipy.special import bdtrik, betaincc

from abnet.bounds.grids import over_arrays
from abnet.bounds.kl_inverse import binary_kl
from abnet.bounds.rounding import adjacent_floats, round_up
from abnet.bounds.stirling import stirling_error
from abnet.utils.checks import count, level, probability

__all__ = ["gibbs_bound_frozen"]

# The relative errors of betaincc and of the binomial weight are below _MARGIN; values below _TINY may have underflowed.
_MARGIN = 1e-9
_TINY = 1e-290


@over_arrays
def gibbs_bound_frozen(empirical_risk: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Bound on the Gibbs risk of a frozen posterior, which was not trained on these examples.

    .. math:: r \le \max\Big\{p : n \hat r > \mathrm{ES}_{δ/K}(n, p)\Big\}, \qquad
              \mathrm{ES}_α(n, p) = \frac1α \int_0^α \mathrm{quantile}_u(\mathrm{Bin}(n, p))\, du

    Holds with probability at least 1-δ over n independent examples, for one posterior that was fixed before they were
    seen. There is no union over posteriors, so neither the divergence nor ξ(n) enters. Valid for any loss in [0, 1],
    and never above Chernoff's bound ``k⁺(r̂, ln(K/δ)/n)``. The module's docstring has the proof.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of posteriors compared on the same examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> round(gibbs_bound_frozen(0.03, 1230), 4)
    0.0413

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables; V. Bentkus (2004), On
    Hoeffding's inequalities; R. T. Rockafellar, S. Uryasev (2000), Optimization of conditional value-at-risk.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    n = count("n", n)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    total = min(float(n), round_up(empirical_risk * n))
    if empirical_risk == 1.0 or share == 0.0:
        return 1.0
    if _is_rejected(empirical_risk, total, n, share):
        return empirical_risk
    return adjacent_floats(lambda rate: _is_rejected(rate, total, n, share), empirical_risk, 1.0)[1]


def _is_rejected(rate: float, total: float, n: int, share: float) -> bool:
    """Whether some hinge shows that a sum of at most `total` has at most the probability `share` at this mean.

    If a hinge shows it for one mean, it shows it for every larger mean.
    """
    if rate == 1.0:
        return total < n
    quantile = float(np.nan_to_num(bdtrik(share, n, rate)))
    nearest = min(int(quantile), n)
    # The best t is one of these two; any other would be valid, too.
    hinges = [t for t in (nearest, nearest + 1) if total < t <= n]
    return any(_expected_hinge(t, n, rate) <= share * (t - total) for t in hinges)


def _expected_hinge(t: int, n: int, p: float) -> float:
    r"""``E(t - Bin(n, p))_+`` for 0 < t <= n and 0 < p < 1, rounded up.

    Equal to ``(t - np) P(Bin <= t-1) + t (1-p) P(Bin = t)``, by de Moivre's formula for the mean deviation.
    """
    below = (t - n * p) * float(betaincc(t, n - t + 1.0, p))
    at = t * (1.0 - p) * _binomial_weight(t, n, p)
    return below + at + _MARGIN * (abs(below) + at) + _TINY


def _binomial_weight(k: int, n: int, p: float) -> float:
    r"""``P(Bin(n, p) = k)`` for k > 0, by Stirling's formula with its error, so that no large logarithms cancel."""
    if k == n:
        return p**n
    sizes = np.array([n, k, n - k], dtype=np.float64)
    of_n, of_k, of_rest = stirling_error(sizes).tolist()
    exponent = of_n - of_k - of_rest - n * binary_kl(k / n, p)
    return math.sqrt(n / (2.0 * math.pi * k * (n - k))) * math.exp(exponent)
