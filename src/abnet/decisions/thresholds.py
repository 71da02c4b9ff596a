"""Thresholds between scores: no rounding decides on which side of one a row falls.

A row that is scored by itself may have another last bit than among others, because another routine adds its terms up. A
threshold that *is* a score would then answer this row one day and not the next, and the promise would be about neither.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["called", "cuts_above", "cuts_below", "cuts_between"]

Array = NDArray[np.float64]

ROOM = 1e-9
"""Scores that differ by less than this share of the largest are one score, which rounding may have split."""


def cuts_between(scores: ArrayLike) -> Array:
    """Every threshold that tells some of the scores from others, rising: one more than there are scores.

    Each lies halfway between two neighbours; the first a little below all scores, the last a little above.

    Examples
    --------
    >>> cuts_between([0.5, 0.1, 0.5 + 1e-16]).round(3)
    array([0.1, 0.3, 0.5])
    """
    values = np.unique(np.asarray(scores, np.float64))
    room = ROOM * max(abs(values[0]), abs(values[-1])) or ROOM
    apart = np.flatnonzero(np.diff(values) > room)
    halfway = values[apart] / 2 + values[apart + 1] / 2
    return np.concatenate([[values[0] - room], halfway, [values[-1] + room]])


def cuts_above(scores: ArrayLike, values: ArrayLike) -> Array:
    """For each of some scores, the threshold next above it, rising and without repetition.

    Examples
    --------
    >>> cuts_above([0.1, 0.2, 0.6], [0.2, 0.1, 0.1]).round(3)
    array([0.15, 0.4 ])
    """
    cuts = cuts_between(scores)
    return cuts[np.unique(np.searchsorted(cuts, values))]


def cuts_below(scores: ArrayLike, values: ArrayLike) -> Array:
    """For each of some scores, the threshold next below it, rising and without repetition.

    Examples
    --------
    >>> cuts_below([0.1, 0.2, 0.6], [0.2, 0.6]).round(3)
    array([0.15, 0.4 ])
    """
    cuts = cuts_between(scores)
    return cuts[np.unique(np.searchsorted(cuts, values) - 1)]


def called(threshold: float, name: str | None) -> str:
    """What the answer is above a threshold, in words.

    Examples
    --------
    >>> called(0.25, "ill")
    'rows whose score for ill is above 0.25 are called ill'
    >>> called(0.25, None)
    'rows with a score above 0.25 are called positive'
    """
    if name is None:
        return f"rows with a score above {threshold:.4g} are called positive"
    return f"rows whose score for {name} is above {threshold:.4g} are called {name}"
