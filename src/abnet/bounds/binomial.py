"""Exact binomial statements beside the upper limit: tails, lower limits, and how classes share δ."""

import math
from collections.abc import Sequence

from scipy.special import betainc, betaincc

from abnet.bounds.outward import adjacent_floats
from abnet.records import count, level, probability

__all__ = ["binomial_tail", "clopper_pearson_lower", "shares_by_count"]

# The incomplete beta functions err by less than this share of their value.
_MARGIN = 1e-9
# Tails smaller than this may underflow on their way.
_TINY = 1e-290


def binomial_tail(k: int, m: int, rate: float) -> float:
    r"""Probability of at most k successes in m trials, rounded up.

    .. math:: \Pr(\mathrm{Bin}(m, ε) \le k) = 1 - I_ε(k+1, m-k)

    It is the p-value of "the rate is at least ε" when k errors were seen: valid, unlike the mid-p, which is smaller
    than its own probability under the hypothesis. No trials give 1.

    Parameters
    ----------
    k : int
        Number of successes, 0 to m.
    m : int
        Number of trials; may be 0.
    rate : float
        Probability ε of a success.

    Returns
    -------
    float
        A number in (0, 1], not below the probability.

    Examples
    --------
    >>> round(binomial_tail(0, 59, 0.05), 5), binomial_tail(0, 0, 0.05)
    (0.04849, 1.0)
    """
    m, rate = count("m", m, least=0), probability("rate", rate)
    k = _at_most("k", k, m)
    if k == m or rate == 0.0:
        return 1.0
    return min(1.0, float(betaincc(k + 1.0, float(m - k), rate)) * (1.0 + _MARGIN) + _TINY)


def clopper_pearson_lower(successes: int, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Clopper-Pearson lower limit of a rate, rounded down.

    .. math:: R \ge \min\{p : \Pr(\mathrm{Bin}(n, p) \ge k) \ge δ/K\} = \mathrm{BetaInv}(δ/K; k, n-k+1)

    With probability at least 1-δ over n independent trials. For k = 0 it is 0, for k = n it is :math:`(δ/K)^{1/n}`.

    Parameters
    ----------
    successes : int
        Number k of successes.
    n : int
        Number of trials.
    delta : float
        Probability with which the limit may fail.
    n_candidates : int
        Number K of rates among which one is reported after looking.

    Returns
    -------
    float
        A number in [0, k/n].

    Examples
    --------
    >>> round(clopper_pearson_lower(240, 300), 4), clopper_pearson_lower(0, 300)
    (0.7582, 0.0)

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits.
    """
    n = count("n", n)
    k = _at_most("successes", successes, n)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    if k == 0:
        return 0.0

    def usual(p: float) -> bool:
        return bool(betainc(float(k), n - k + 1.0, p) > share * (1.0 - _MARGIN))

    return adjacent_floats(usual, 0.0, k / n)[0] if usual(k / n) else k / n


def shares_by_count(counts: Sequence[int], delta: float = 0.05) -> tuple[float, ...]:
    r"""Split δ among classes or populations in inverse proportion to their numbers of rows.

    .. math:: δ_c = δ \frac{1/n_c}{\sum_{n_d > 0} 1/n_d}, \qquad \sum_c δ_c \le δ

    Valid because the argument conditions on the counts: given them, each class has its own binomial errors, and the
    shares are constants. A rare class has a wide limit that a larger share narrows most. A class without rows gets 0:
    its limit is 1, which cannot fail.

    Parameters
    ----------
    counts : sequence of int
        Rows n_c of each class; may be 0.
    delta : float
        Probability with which any of the limits may fail.

    Returns
    -------
    tuple of float
        One share per class, in their order; rounded down so that the sum does not exceed δ.

    Examples
    --------
    >>> [round(share, 4) for share in shares_by_count([10, 990, 0])]
    [0.0495, 0.0005, 0.0]
    """
    sizes, delta = [count("counts", size, least=0) for size in counts], level("delta", delta)
    smallest = min((size for size in sizes if size), default=1)
    weights = [smallest / size if size else 0.0 for size in sizes]
    total = math.fsum(weights)
    return tuple(delta * (weight / total) * (1.0 - 2.0**-50) if weight else 0.0 for weight in weights)


def _at_most(name: str, value: int, most: int) -> int:
    number = count(name, value, least=0)
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {number}")
    return number
