r"""Tests of ranks: thresholds that are scores of the counted rows themselves, so that no rows are set aside.

Sort the rows by decreasing score, equal scores at random. *Rank* m stands for every threshold between the m-th and the
next score: the m first rows are above it. Two facts permit testing ranks although the rows themselves supply the
thresholds.

**Failures among the rows above the threshold** (precision, error among answered rows). Let ``r(t)`` be the true rate of
failures above t, and call t bad if ``r(t) > limit``. Between two points where r equals the limit, the failures
have the rate `limit` on average; hence this holds for every maximal interval of bad thresholds and for
every interval between two of them. Whether a rank is the first that stands for a bad threshold follows from the
*numbers* of rows in these intervals. Given the numbers, the labels of rows in whole intervals are as independent draws
with the rate `limit`, so m of them have at most k failures with a probability of at most ``P(Bin(m, limit) <= k)``.
If the first rank of a sequence is itself inside a bad interval, the rows of this interval above it are draws from a
part that is worse than the limit. So a sequence of tests that begins at a fixed rank and stops at the first failure
passes a bad threshold with probability at most its δ.

**Failures among the rows of a class** (recall, specificity). Their rate is monotone in the threshold, and the number
of failures too. A bad threshold passes only if the least bad one does, and that one is fixed.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

__all__ = ["first_ranks", "ranks_above", "ranks_of_class"]

Passed = NDArray[np.bool_]

_MARGIN = 1e-6
"""Relative error of a binomial tail that is allowed for: more than in the bounds that a statement is computed with."""


def ranks_above(failing: ArrayLike, limit: float, delta: float) -> Passed:
    """Ranks at which the rate of failures among the rows above is shown to be at most `limit`, all jointly.

    A sequence of tests begins at each of a few fixed ranks (`first_ranks`), which share δ equally. A sequence that
    reaches the next start takes its share along, so later tests of a sequence that never fails are made at the whole δ
    (the fallback procedure of Wiens 2003).

    Parameters
    ----------
    failing : bool array (n,)
        The rows that are failures if they are above the threshold, by decreasing score.
    limit : float
    delta : float

    Returns
    -------
    bool array (n,)
        Entry m - 1 is about the m rows with the largest scores.

    Examples
    --------
    >>> failing = np.arange(200) >= 150
    >>> np.flatnonzero(ranks_above(failing, 0.05, 0.05))[[0, -1]] + 1
    array([ 59, 153])
    """
    failed = np.cumsum(np.asarray(failing, bool))
    tails = _tails(failed, np.arange(1, len(failed) + 1), limit)
    starts = first_ranks(len(failed), limit, delta)
    passed = np.zeros(len(failed), bool)
    share = 0.0
    for rank, tail in enumerate(tails.tolist(), start=1):
        if rank in starts:
            share += 1.0 / len(starts)
        if share > 0.0 and tail <= min(share, 1.0) * delta:
            passed[rank - 1] = True
        else:
            share = 0.0
    return passed


def ranks_of_class(failures: ArrayLike, rows: int, limit: float, delta: float) -> Passed:
    """Ranks at which the rate of failures among the rows of a class is shown to be at most `limit`, all jointly.

    Parameters
    ----------
    failures : int array (n,)
        Rows of the class that fail at each rank; monotone.
    rows : int
        All rows of the class.
    limit : float
    delta : float

    Examples
    --------
    >>> ranks_of_class([3, 2, 1, 0], 100, 0.05, 0.05).tolist()
    [False, False, True, True]
    """
    return _tails(np.asarray(failures), np.full(np.shape(failures), rows), limit) <= delta


def first_ranks(n: int, limit: float, delta: float) -> tuple[int, ...]:
    """Ranks at which sequences of tests begin: they depend on the number of rows, never on the scores.

    The smallest rank that could pass, without a single failure, is doubled until it exceeds half of the rows. Starts
    at the smallest rank itself lost more than they gained, except if there is no other.

    Examples
    --------
    >>> first_ranks(1000, 0.05, 0.05), first_ranks(100, 0.05, 0.05)
    ((118, 236, 472), (59,))
    """
    least = math.ceil(math.log(delta) / math.log1p(-limit))
    starts = []
    rank = 2 * least
    while 2 * rank <= n:
        starts.append(rank)
        rank *= 2
    return tuple(starts) or (least,)


def _tails(failures: NDArray[np.int64], trials: NDArray[np.int64], limit: float) -> NDArray[np.float64]:
    """Probabilities of at most so many failures at a rate of `limit`, rounded up."""
    return np.asarray(bdtr(failures.astype(np.float64), trials, limit) * (1.0 + _MARGIN), np.float64)
