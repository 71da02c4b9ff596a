"""Levels of confidence: what counting errors proves, rounded outward, and how δ is shared out among several bounds.

Nowhere else is a probability of failure divided. By the union bound, events that may fail with the given shares all
hold at once with probability at least 1-δ. Every other function of this room takes its δ as given.

| among | share |
| --- | --- |
| the first- and the second-order bound on a vote, the smaller of which is reported | δ/2 each |
| the classes, or populations, of n_c bound rows each | in proportion to 1/n_c |
| the limits of a class's rates, a lower and an upper one for each of A answers | its share/2A; half of it for A = 2 |
| not knowing the empirical risk exactly (sampled paths) | δ/10; the bound itself has the rest |
| the draw of paths that are kept | δ/10; the bound itself has the rest |
"""

import math
import struct
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc

from abnet.records import count, level, probability, tally

__all__ = [
    "OUTWARD",
    "adjacent_floats",
    "binomial_tail",
    "clopper_pearson_bound",
    "clopper_pearson_lower",
    "exact_sum",
    "round_up",
    "share_for_fixed_paths",
    "share_for_sampling",
    "share_of_a_limit",
    "share_of_an_order",
    "shares_by_count",
    "shares_of_classes",
]


#: Four units in the last place: more than the few roundings of the formulas in this room can lose.
OUTWARD = 1.0 + 2.0**-50


def round_up(value: float) -> float:
    """Enlarge a non-negative number by more than the rounding errors of a short formula.

    Examples
    --------
    >>> round_up(1.0) > 1.0
    True
    """
    return value * OUTWARD


def exact_sum(values: NDArray[np.float64]) -> float:
    """The sum of numbers in [0, 1], rounded once, so that it does not depend on their order.

    That is `math.fsum` of them, in fewer steps: each is cut into pieces of 30 bits, whose sums are whole numbers that
    a float holds. What is left of numbers below 2^-37 is summed one by one.

    Examples
    --------
    >>> exact_sum(np.array([0.1] * 10)), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """
    pieces: list[float] = []
    for start in range(0, len(values), _TOGETHER):
        rest, unit = values[start : start + _TOGETHER], 1.0
        for _ in range(3):
            rest, unit = rest * 2.0**30, unit * 2.0**-30
            whole = np.floor(rest)
            rest = rest - whole
            pieces.append(float(whole.sum()) * unit)
        pieces.extend((rest[rest > 0.0] * unit).tolist())
    return math.fsum(pieces)


# So many whole numbers up to 2^30 have a sum below 2^53.
_TOGETHER = 2**22


def adjacent_floats(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Find two neighbouring floats between which ``holds`` turns from false to true.

    Non-negative doubles are ordered like their bit patterns, so halving the patterns ends at neighbours after at most
    62 steps at any magnitude, denormal numbers included. ``holds`` was evaluated and false at the first of the returned
    pair, evaluated and true at the second, unless they are the given ends.

    Parameters
    ----------
    holds : callable
        A condition that is false at ``low`` and true at ``high``.
    low, high : float
        Non-negative ends, ``low < high``.

    Examples
    --------
    >>> adjacent_floats(lambda x: x * x >= 2.0, 1.0, 2.0)
    (1.414213562373095, 1.4142135623730951)
    """
    below, above = _pattern(low), _pattern(high)
    while above - below > 1:
        middle = (below + above) // 2
        if holds(_number(middle)):
            above = middle
        else:
            below = middle
    return _number(below), _number(above)


def _pattern(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _number(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", pattern))[0])


# betaincc errs by less than this share of its value; a shorter tail is asked for by as much.
_MARGIN = 1e-9


def clopper_pearson_bound(errors: int, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Clopper-Pearson upper limit of an error rate, the test-set bound.

    .. math:: R \le \max\{p : \Pr(\mathrm{Bin}(n, p) \le k) \ge \delta / K\} = \mathrm{BetaInv}(1 - \delta/K; k+1, n-k)

    With probability at least 1-δ over n independent examples that had no part in training or selection. It covers
    whatever code produced the labels. For k = 0 it is :math:`1 - (\delta/K)^{1/n}`, for k = n it is 1.

    Parameters
    ----------
    errors : int
        Number k of wrong labels.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of models judged on the same examples.

    Returns
    -------
    float
        A number in [errors / n, 1], rounded up.

    Examples
    --------
    >>> round(clopper_pearson_bound(0, 100), 6), round(clopper_pearson_bound(31, 1230), 4)
    (0.029513, 0.0339)

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits; J. Langford (2005), Tutorial on
    practical prediction theory for classification.
    """
    errors, n = tally("errors", errors), count("n", n)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    if errors > n:
        raise ValueError(f"errors must not exceed n = {n}; got {errors}.")
    if errors == n:
        return 1.0
    return _smallest_with_tail(errors, n, share * (1.0 - _MARGIN))


def _smallest_with_tail(errors: int, n: int, tail: float) -> float:
    def rare(p: float) -> bool:
        return bool(betaincc(errors + 1.0, float(n - errors), p) <= tail)

    observed = errors / n
    return observed if rare(observed) else adjacent_floats(rare, observed, 1.0)[1]


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


def _at_most(name: str, value: int, most: int) -> int:
    number = count(name, value, least=0)
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {number}")
    return number


_SAMPLING = 0.1

_FIXED_PATHS = 0.1


def share_of_an_order(delta: float) -> float:
    """The share of either bound on a vote, first order and second order.

    Examples
    --------
    >>> share_of_an_order(0.05)
    0.025
    """
    return level("delta", delta) / 2.0


def shares_of_classes(delta: float, counts: Sequence[int]) -> list[float]:
    """The shares of the classes, in proportion to 1/n_c: the fewer rows a class has, the more of δ it needs.

    Valid because the bounds by class hold given the counts. A class without rows has no bound to pay for, and no share.

    Examples
    --------
    >>> [round(share, 5) for share in shares_of_classes(0.05, [10, 990])]
    [0.0495, 0.0005]
    >>> [round(share, 5) for share in shares_of_classes(0.06, [50, 50, 0])]
    [0.03, 0.03, 0.0]
    """
    if len(counts) == 2 and counts[0] == counts[1]:
        return [share_of_an_order(delta)] * 2  # halves are exact
    return list(shares_by_count(counts, delta))


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


def share_of_a_limit(delta: float, n_answers: int) -> float:
    """The share of each limit, lower or upper, on the rates of A answers to one class.

    Two rates are each other's complement: one's upper limit is the other's lower one, and two limits are all.

    Examples
    --------
    >>> share_of_a_limit(0.06, 3), share_of_a_limit(0.06, 2)
    (0.01, 0.03)
    """
    return level("delta", delta) / (2 if count("n_answers", n_answers, least=2) == 2 else 2 * n_answers)


def share_for_sampling(delta: float) -> tuple[float, float]:
    """What is spent on the sampling of an empirical risk, and what is left.

    Examples
    --------
    >>> share_for_sampling(0.5)
    (0.05, 0.45)
    """
    spent = _SAMPLING * level("delta", delta)
    return spent, delta - spent


def share_for_fixed_paths(delta: float) -> tuple[float, float]:
    """What is spent on the draw of the paths that vote, and what is left.

    Examples
    --------
    >>> share_for_fixed_paths(0.5)
    (0.05, 0.45)
    """
    spent = _FIXED_PATHS * level("delta", delta)
    return spent, delta - spent
