r"""The threshold of prediction sets that miss the true class with a certified probability, for this one model.

A set holds the classes whose score is at least t. If t is the (k+1)-th smallest score of the true class on n held-out
rows, the true class is missed with probability at most α unless at most k of n rows fall below the α-quantile of that
score, which has the probability ``P(Bin(n, α) <= k)``. So k is the largest number for which this is at most δ (Wilks
1941; Vovk 2012). No grid of thresholds is needed, and ties only help.
"""

import math
from collections.abc import Sequence

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


def level_at_chosen_rows(chosen_from: Sequence[int], delta: float = 0.05) -> float:
    r"""The level of a bound about thresholds that are scores of single rows, counted on all other rows.

    .. math:: δ' = δ \Big/ \prod_j n_j

    Each threshold is the score of one of n_j rows. For fixed rows the thresholds are fixed, and the other rows are
    independent of them: a bound counted on the others fails with probability at most δ'. There are :math:`\prod_j n_j`
    choices of rows, so the bound holds with probability at least 1-δ for the chosen ones. It may be about anything that
    the thresholds decide, such as the size of sets.

    Parameters
    ----------
    chosen_from : sequence of int
        Numbers n_j of rows, one for each threshold.
    delta : float
        Maximum probability that the bound fails.

    Returns
    -------
    float
        0.0 if the number of choices is too large for any bound.

    Examples
    --------
    >>> round(level_at_chosen_rows([400]), 9), round(level_at_chosen_rows([10, 100]), 9)
    (0.000125, 5e-05)

    References
    ----------
    S. Floyd, M. Warmuth (1995), Sample compression, learnability, and the Vapnik-Chervonenkis dimension.
    """
    choices = math.prod(count("chosen_from", n) for n in chosen_from)
    # Dividing integers does not overflow, and rounds once; tiny levels are below what the tails can tell apart.
    share = level("delta", delta) * (1 / choices) * (1.0 - 2.0**-50)
    if share < _TINY:
        return 0.0
    return share


_TINY = 1e-200
