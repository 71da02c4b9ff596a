r"""Precision and error rate at a threshold that was chosen with the same rows, among all thresholds on the line.

Both are made of shares of *all* rows that are monotone in the threshold: positive rows above it, other rows above it,
positive rows below it. Each share has a limit that holds at all thresholds jointly (`abnet.bounds.local_level`); two of
them at δ/2 give

.. math:: \text{precision} \ge \frac{L_+}{L_+ + U_-}, \qquad \text{error rate} \le U_{\text{missed}} + U_-,

with :math:`L_+` the lower limit of positive rows above, :math:`U_-` the upper limit of other rows above, and
:math:`U_{\text{missed}}` that of positive rows below the threshold.
"""

from abnet.bounds.local_level import chosen_rate_lower, chosen_rate_upper
from abnet.bounds.rounding import round_up
from abnet.bounds.shares import share_of_two

__all__ = ["chosen_error_upper", "chosen_precision_lower"]


def chosen_precision_lower(
    right: int, wrong: int, n: int, thresholds: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    """Lower limit of the precision at a threshold that was chosen with the same n rows.

    Parameters
    ----------
    right, wrong : int
        Positive rows and other rows above the threshold.
    n : int
        All rows.
    thresholds : int
        Number of thresholds that could be chosen.
    delta : float
        Maximum probability that the limit fails.
    n_candidates : int
        Number of models compared on the same rows.

    Examples
    --------
    >>> round(chosen_precision_lower(87, 2, 369, 369), 3), chosen_precision_lower(0, 0, 10, 10)
    (0.844, 0.0)
    """
    share = share_of_two(delta)
    least_right = chosen_rate_lower(right, n, thresholds, share, n_candidates=n_candidates)
    most_wrong = chosen_rate_upper(wrong, n, thresholds, share, n_candidates=n_candidates)
    return least_right / round_up(least_right + most_wrong)


def chosen_error_upper(
    missed: int, wrong: int, n: int, thresholds: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    """Upper limit of the error rate of a cut whose threshold was chosen with the same n rows.

    Parameters
    ----------
    missed : int
        Positive rows below the threshold.
    wrong : int
        Other rows above it.
    n, thresholds, delta, n_candidates
        As for `chosen_precision_lower`.

    Examples
    --------
    >>> round(chosen_error_upper(4, 2, 369, 369), 3)
    0.072
    """
    share = share_of_two(delta)
    most_missed = chosen_rate_upper(missed, n, thresholds, share, n_candidates=n_candidates)
    most_wrong = chosen_rate_upper(wrong, n, thresholds, share, n_candidates=n_candidates)
    return min(1.0, round_up(most_missed + most_wrong))
