"""Exact tests of whether new rows look like training rows, for one column.

If the n training rows and the m new ones are exchangeable, any set of them that does not depend on the split is divided
between the two parts as by drawing without replacement. All tests are tails of this hypergeometric distribution. They
hold for any distribution of the cells. Equal values make them conservative.
"""

from math import exp, lgamma

__all__ = ["absent_p", "at_least", "beyond_p", "new_value_p", "scarce_p"]


def at_least(k: int, draws: int, marked: int, total: int) -> float:
    """Upper bound on the probability of k or more marked items among `draws` of `total` without replacement.

    The ratio of successive terms of the tail decreases, so the tail is at most that of a geometric series.

    Examples
    --------
    >>> round(at_least(2, 2, 2, 4), 9), at_least(0, 5, 5, 10)
    (0.166666667, 1.0)
    """
    if k <= max(0, draws + marked - total):
        return 1.0
    if k > min(draws, marked):
        return 0.0
    first = exp(_log_choose(marked, k) + _log_choose(total - marked, draws - k) - _log_choose(total, draws))
    ratio = (marked - k) * (draws - k) / ((k + 1) * (total - marked - draws + k + 1))
    if ratio >= 1.0:
        return 1.0
    return min(first / (1.0 - ratio), 1.0)


def beyond_p(k: int, m: int, n: int) -> float:
    """p-value of k of m new values strictly outside the range of n training values.

    n values divide the line into n + 1 blocks. The number of new values in two blocks has the same distribution for any
    two, so that of the two outer blocks has the distribution of the two lowest ones. These hold k or more new values
    if at least k of the lowest k + 1 of all values are new.

    Examples
    --------
    >>> round(beyond_p(1, 1, 9), 9)
    0.2
    """
    return at_least(k, k + 1, m, n + m)


def scarce_p(k: int, m: int, rank: int, n: int) -> float:
    """p-value of only k of m new values that reach the training value of this rank, counted from the far end.

    Examples
    --------
    >>> round(scarce_p(0, 2, 2, 4), 9)  # both new values are below the two largest of the training values
    0.4
    """
    return at_least(rank, rank + k, n, n + m)


def absent_p(k: int, m: int, k_training: int, n: int) -> float:
    """p-value of k of m new rows without a value, if there were `k_training` among n training rows.

    Examples
    --------
    >>> round(absent_p(2, 2, 0, 2), 9)
    0.166666667
    """
    return at_least(k, m, k + k_training, n + m)


def new_value_p(k: int, m: int, n: int) -> float:
    """p-value of a value that k of m new rows have and none of n training rows, the most frequent of such values.

    At most (n + m)/k values occur k times or more among all rows. Each of them misses the training rows with the
    probability that k given rows are all new.

    Examples
    --------
    >>> round(new_value_p(2, 2, 2), 9)
    0.333333333
    """
    if not k:
        return 1.0
    return min((n + m) / k * at_least(k, m, k, n + m), 1.0)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
