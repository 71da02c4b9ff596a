"""Whether errors and labels of the held-out rows depend on the order of the rows: a note, and never a promise.

A certificate assumes that rows are independent draws from one source. If errors become more frequent towards the end of
a file, they may not be. This is a permutation test with the largest absolute cumulative sum as its statistic. It reads
the held-out rows after the certificate was made, and nothing else depends on it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVEL", "MOST_ROWS", "OrderCheck", "check_order"]

LEVEL = 0.01
"""Largest p-value that is worth a note."""
MOST_ROWS = 10_000
"""Rows that are looked at: of more rows as many, evenly spaced."""
_PERMUTATIONS = 999
_MOST_CLASSES = 5
_BLOCK = 500_000
_MOST_AT_ONCE = 100
"""Numbers, and permutations, that are drawn at a time."""
_ENOUGH = 10
"""Permutations with a statistic as large as the one seen, after which no more are drawn: p is above `LEVEL` then."""

Floats = NDArray[np.float64]


class OrderCheck(NamedTuple):
    """What the order of the held-out rows says.

    Attributes
    ----------
    errors : float
        p-value of the errors, given the labels: errors are permuted among the rows of each class, so that a file that
        is sorted by label does not count as one whose errors depend on the order.
    labels : float
        p-value of the labels.
    more_errors : {"earlier", "later"}
        The rows among which errors are more frequent.
    n_looked_at : int
    """

    errors: float
    labels: float
    more_errors: str
    n_looked_at: int


def check_order(wrong: NDArray[np.bool_], codes: NDArray[np.integer]) -> OrderCheck:
    """Test whether errors and labels depend on the order of the rows.

    Parameters
    ----------
    wrong : bool array (n,)
        Wrong answers, in the order of the file or of time.
    codes : int array (n,)
        Classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = np.sort(rng.integers(0, 2, 400))
    >>> found = check_order(rng.random(400) < np.linspace(0.0, 0.6, 400), codes)
    >>> found.errors < LEVEL, found.labels < LEVEL, found.more_errors
    (True, True, 'later')
    """
    if len(wrong) > MOST_ROWS:
        looked_at = np.linspace(0, len(wrong) - 1, MOST_ROWS).astype(np.intp)
        wrong = wrong[looked_at]
        codes = codes[looked_at]
    rng = np.random.default_rng(0)
    classes, rows_of_class = np.unique(codes, return_counts=True)
    residuals = wrong.astype(np.float64)
    for label in classes:
        of_class = codes == label
        residuals[of_class] -= residuals[of_class].mean()
    path = np.cumsum(residuals)
    more_errors = "later"
    if len(path) and path[np.argmax(np.abs(path))] > 0:
        more_errors = "earlier"
    largest = classes[np.argsort(-rows_of_class, kind="stable")[:_MOST_CLASSES]]
    is_class = (codes[:, None] == largest).astype(np.float64)
    together = np.zeros(len(codes), np.int64)
    return OrderCheck(
        errors=_p_value(residuals[:, None], codes, rng),
        labels=_p_value(is_class - is_class.mean(axis=0), together, rng),
        more_errors=more_errors,
        n_looked_at=len(codes),
    )


def _p_value(values: Floats, strata: NDArray[np.integer], rng: np.random.Generator) -> float:
    """p-value of the largest ``|cumulative sum|`` of the columns (n, c), permuting rows within their strata."""
    if not np.any(values):
        return 1.0
    seen = np.abs(np.cumsum(values, axis=0)).max()
    room = 1e-9 * seen  # sums in another order are rounded differently
    n = len(values)
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    n_as_large = 0
    n_left = _PERMUTATIONS
    while n_left and n_as_large < _ENOUGH:
        n_drawn = min(max(_BLOCK // n, 1), _MOST_AT_ONCE, n_left)
        n_left -= n_drawn
        places = np.empty((n_drawn, n), np.intp)
        for rows in members:
            places[:, rows] = rng.permuted(np.tile(rows, (n_drawn, 1)), axis=1)
        largest = np.zeros(n_drawn)
        for column in values.T:
            sums = np.cumsum(column[places], axis=1)
            np.maximum(largest, np.abs(sums, out=sums).max(axis=1), out=largest)
        n_as_large += int(np.sum(largest >= seen - room))
    return (1 + n_as_large) / (1 + _PERMUTATIONS - n_left)
