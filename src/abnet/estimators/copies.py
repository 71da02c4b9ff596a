"""Rows that look copied: a certificate counts every row as an independent draw, which a copy is not."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["copies", "warn_of_copies"]

FEWEST_DISTINCT = 10
"""Fewer distinct rows say nothing: a table of two yes-or-no columns has four, and each of them often."""

REGULAR = 0.9
"""Share of the rows that occur equally often from which on this is no accident."""


def copies(X: NDArray[Any]) -> int:
    """How often nearly every row of X occurs, if that is more than once; 1 otherwise.

    An i.i.d. sample may hold any number of repeated rows, but then some occur once, others twice and others thrice. A
    regular multiplicity is the mark of oversampling, augmentation or repeated measurement.

    Examples
    --------
    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> copies(rows), copies(np.repeat(rows, 4, axis=0))
    (1, 4)
    """
    marks = np.array([hash(row.tobytes()) for row in X])
    often = np.unique(marks, return_counts=True)[1]
    if len(often) < FEWEST_DISTINCT:
        return 1
    rows_by_count = np.bincount(often, weights=often)
    usual = int(np.argmax(rows_by_count))
    return usual if rows_by_count[usual] >= REGULAR * len(X) else 1


def warn_of_copies(X: NDArray[Any], y: NDArray[np.float64], classes: NDArray[Any]) -> None:
    """Warn if nearly every row of a class occurs equally often, more than once.

    Parameters
    ----------
    X : array (n, d)
        Prepared rows.
    y : array (n,)
        Labels ±1.
    classes : array of two labels
        The user's, for the message.
    """
    for label, name in zip((-1.0, 1.0), classes, strict=True):
        often = copies(X[y == label])
        if often > 1:
            warnings.warn(
                f"Nearly every row of class {name} occurs {often} times: these look like oversampled, augmented or "
                "grouped rows. The certificate takes every row for an independent draw, and does not hold for copies: "
                "fit on the original rows, with sample_weight to stress some of them.",
                stacklevel=2,
            )
            return
