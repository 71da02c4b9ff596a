"""Exact limits of a binomial rate: Clopper-Pearson upper and lower limits, and the binomial tail that they invert."""

from scipy.special import betainc, betaincc

from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import adjacent_floats
from abnet.utils.checks import count, level, probability, tally

__all__ = ["binomial_tail", "clopper_pearson_bound", "clopper_pearson_lower"]

# The relative error of betaincc is below this; tails are compared with a level that is smaller by as much.
_MARGIN = 1e-9


@over_arrays
def clopper_pearson_bound(errors: int, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Clopper-Pearson upper limit of an error rate, the test-set bound.

    .. math:: R \le \max\{p : \Pr(\mathrm{Bin}(n, p) \le k) \ge \delta / K\} = \mathrm{BetaInv}(1 - \delta/K; k+1, n-k)

    Holds with probability at least 1-δ over n independent examples that were held out from training and selection. It
    covers any code that predicts labels. For k = 0 it is :math:`1 - (\delta/K)^{1/n}`, for k = n it is 1.

    Parameters
    ----------
    errors : int
        Number k of wrong labels.
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of models compared on the same examples.

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
    errors = tally("errors", errors)
    n = count("n", n)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    if errors > n:
        raise ValueError(f"errors must not exceed n = {n}; got {errors}.")
    if errors == n:
        return 1.0
    return _smallest_with_tail(errors, n, share * (1.0 - _MARGIN))


def _smallest_with_tail(errors: int, n: int, tail: float) -> float:
    """Smallest rate at which so few errors have at most the probability `tail`, but at least the observed rate."""

    def is_rejected(rate: float) -> bool:
        return bool(betaincc(errors + 1.0, float(n - errors), rate) <= tail)

    observed = errors / n
    if is_rejected(observed):
        return observed
    return adjacent_floats(is_rejected, observed, 1.0)[1]


# Tails smaller than this may underflow while they are computed.
_TINY = 1e-290


def binomial_tail(k: int, m: int, rate: float) -> float:
    r"""Probability of at most k successes in m trials, rounded up.

    .. math:: \Pr(\mathrm{Bin}(m, ε) \le k) = 1 - I_ε(k+1, m-k)

    It is the p-value of the hypothesis "the rate is at least ε" after k errors. It is valid, unlike the mid-p value,
    which is too small. Without trials it is 1.

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
    m = count("m", m, least=0)
    rate = probability("rate", rate)
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
        Maximum probability that the limit fails.
    n_candidates : int
        Number K of rates among which one is chosen after seeing them.

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

    def is_not_rejected(rate: float) -> bool:
        return bool(betainc(float(k), n - k + 1.0, rate) > share * (1.0 - _MARGIN))

    observed = k / n
    if not is_not_rejected(observed):
        return observed
    return adjacent_floats(is_not_rejected, 0.0, observed)[0]


def _at_most(name: str, value: int, most: int) -> int:
    """A checked count from 0 to `most`."""
    number = count(name, value, least=0)
    if number > most:
        raise ValueError(f"{name} must be at most {most}; got {number}.")
    return number
