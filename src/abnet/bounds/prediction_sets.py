r"""The threshold of prediction sets that miss the true class with a certified probability, for this one model.

A set holds the classes whose score is at least t. If t is the (k+1)-th smallest score of the true class on n held-out
rows, the true class is missed with probability at most α unless at most k of n rows fall below the α-quantile of that
score, which has the probability ``P(Bin(n, α) <= k)``. So k is the largest number for which this is at most δ (Wilks
1941; Vovk 2012). No grid of thresholds is needed, and ties only help.
"""

import math

from abnet.bounds.clopper_pearson import binomial_tail
from abnet.utils.checks import count, level

__all__ = ["level_at_chosen_rows", "rows_for_sets", "set_rank"]


def set_rank(n: int, alpha: float, delta: float = 0.05, *, n_candidates: int = 1) -> int | None:
    r"""The number k of held-out rows whose true class may be missed: the threshold is the (k+1)-th smallest score.

    .. math:: k = \max\{k : \Pr(\mathrm{Bin}(n, α) \le k) \le δ/K\}

    Holds with probability at least 1-δ over n independent rows, given the model: for this threshold, a new row's set
    misses its true class with probability at most α.

    Parameters
    ----------
    n : int
        Number of held-out rows; of one class, for a promise about that class.
    alpha : float
        Largest probability that a set misses the true class.
    delta : float
        Maximum probability that the promise fails.
    n_candidates : int
        Number K of models compared on the same rows.

    Returns
    -------
    int or None
        None if n is too small for any threshold; `rows_for_sets` says how many rows suffice.

    Examples
    --------
    >>> set_rank(400, 0.1), set_rank(28, 0.1), rows_for_sets(0.1)
    (29, None, 29)

    References
    ----------
    S. S. Wilks (1941), Determination of sample sizes for setting tolerance limits; V. Vovk (2012), Conditional validity
    of inductive conformal predictors.
    """
    n = count("n", n, least=0)
    alpha = level("alpha", alpha)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    # The tail grows with k: `low` passes, `high` does not.
    low = -1
    high = n
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_tail(middle, n, alpha) <= share:
            low = middle
        else:
            high = middle
    if low < 0:
        return None
    return low


def rows_for_sets(alpha: float, delta: float = 0.05, *, n_candidates: int = 1) -> int:
    """The smallest number of rows with which a threshold exists; with one row less the sets hold every class."""
    share = level("delta", delta) / count("n_candidates", n_candidates)
    n = max(1, math.ceil(math.log(share) / math.log1p(-level("alpha", alpha))) - 1)
    while set_rank(n, alpha, share) is None:
        n += 1
    return n


def level_at_chosen_rows(n: int, delta: float = 0.05, *, thresholds: int = 1, classes: int = 1) -> float:
    r"""The level of a bound about thresholds that are scores of single rows, counted on all other rows.

    .. math:: δ' = δ \Big/ K \binom{K}{J} \left(\frac{n}{J}\right)^J

    J of K classes have a threshold of their own, each the score of one row of the class. For fixed rows the thresholds
    are fixed, and the other rows are independent of them: a bound counted on the others fails with probability at most
    δ'. The expected number of choices of one row from each of J classes is at most :math:`(n/J)^J`, whatever the shares
    of the classes; there are at most K numbers J and :math:`\binom{K}{J}` sets of J classes. So the bound holds with
    probability at least 1-δ for the chosen rows. It may be about anything that the thresholds decide, such as the size
    of sets. The number of choices among the rows at hand would not do: it depends on the other rows.

    Parameters
    ----------
    n : int
        Number of all rows.
    delta : float
        Maximum probability that the bound fails.
    thresholds : int
        Number J of thresholds.
    classes : int
        Number K of classes that could have a threshold of their own; 1 for one threshold from rows of all classes.

    Returns
    -------
    float
        0.0 if the number of choices is too large for any bound.

    Examples
    --------
    >>> round(level_at_chosen_rows(400), 9), round(level_at_chosen_rows(110, thresholds=2, classes=2), 9)
    (0.000125, 8.264e-06)

    References
    ----------
    S. Floyd, M. Warmuth (1995), Sample compression, learnability, and the Vapnik-Chervonenkis dimension.
    """
    n = count("n", n)
    thresholds = count("thresholds", thresholds)
    classes = count("classes", classes, least=thresholds)
    choices = thresholds * math.log(n / thresholds) + math.log(classes * math.comb(classes, thresholds))
    # Thresholds come from different rows; without this, more of them than rows would be fewer choices.
    share = level("delta", delta) * math.exp(-max(0.0, choices)) * (1.0 - _ROUNDING)
    if share < _TINY:
        return 0.0
    return share


_ROUNDING = 1e-9
"""More than the relative error of the level."""
_TINY = 1e-200
