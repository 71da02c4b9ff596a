"""Thresholds between scores: no rounding decides on which side of one a row falls.

A row that is scored by itself may have another last bit than among others, because another routine adds its terms up. A
threshold that *is* a score would then answer this row one day and not the next, and the promise would be about neither.

A threshold has as few digits as the gap that it lies in allows, before any bound row is seen. So what is printed is the
threshold that was certified, and who types it in decides as the model does.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["called", "cuts_above", "cuts_below", "cuts_between", "room_of"]

Array = NDArray[np.float64]

MOST_DECIMALS = 22
"""Powers of ten up to this one are exact in float64. A number that needs more digits is left as it is."""

ROOM = 1e-9
"""Scores that differ by less than this share of the largest are one score, which rounding may have split."""


def cuts_between(scores: ArrayLike) -> Array:
    """Every threshold that tells some of the scores from others, rising: one more than there are scores.

    Each lies about halfway between two neighbours; the first a little below all scores, the last a little above.

    Examples
    --------
    >>> cuts_between([0.5, 0.1234, 0.5 + 1e-16]).tolist()
    [0.122, 0.3, 0.502]
    """
    values = np.unique(np.asarray(scores, np.float64))
    room = room_of(values)
    apart = np.flatnonzero(np.diff(values) > room)
    beyond = max(values[-1] / 100 - values[0] / 100, 2 * room)
    low = np.concatenate([[values[0] - beyond], values[apart], [values[-1]]])
    high = np.concatenate([[values[0]], values[apart + 1], [values[-1] + beyond]])
    return _short_between(low, high)


def room_of(scores: Array) -> float:
    """How far apart two of the scores must be, so that rounding has not split them."""
    return float(ROOM * np.abs(scores).max() or ROOM)


def _short_between(low: Array, high: Array) -> Array:
    """Numbers of few decimals in the middle halves of gaps.

    Examples
    --------
    >>> _short_between(np.array([0.123456, -0.2]), np.array([0.123556, 0.3])).tolist()
    [0.12351, 0.0]
    """
    halfway = low / 2 + high / 2
    decimals = np.ceil(-np.log10((high - low) / 2) - 1e-9)
    for places in np.unique(decimals[decimals <= MOST_DECIMALS]):
        here = decimals == places
        halfway[here] = np.round(halfway[here], int(places))
    return halfway + 0.0  # no -0.0


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
        return f"rows with a score above {threshold!r} are called positive"
    return f"rows whose score for {name} is above {threshold!r} are called {name}"
