"""A few rows that a model's card keeps as background for explanations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BACKGROUND_ROWS", "background_rows", "decimals", "drawn_rows"]

BACKGROUND_ROWS = 25
"""Maximum number of background rows."""
_MOST_NUMBERS = 8192
_FEWEST_ROWS = 4
"""Maximum number of features of all background rows together; if fewer than four rows would fit, none are kept."""


def background_rows(features: NDArray[Any], *, seed: int = 0) -> tuple[tuple[float, ...], ...]:
    """A few rows of the first part that the model's card keeps as background for explanations; none of very wide rows.

    They are rows of the training table: anyone with the model file can recover their cells.
    `abnet.explanation.without_background` removes them.

    Parameters
    ----------
    features : array (n, d)
        Prepared rows before their codes.
    seed : int
        Of the draw.

    Examples
    --------
    >>> background_rows(np.array([[0.1, 1.0], [0.2, 0.0]], np.float32))
    ((0.1, 1), (0.2, 0))
    >>> len(background_rows(np.zeros((1000, 20))))
    25
    """
    most = min(BACKGROUND_ROWS, _MOST_NUMBERS // max(features.shape[1], 1))
    if most < _FEWEST_ROWS or not len(features):
        return ()
    rows = drawn_rows(np.asarray(features), most, seed)
    return tuple(tuple(row) for row in decimals(rows))


def drawn_rows(rows: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """At most `most` rows, drawn at random, in their original order."""
    if len(rows) <= most:
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), most, replace=False)
    return rows[np.sort(drawn)]


def decimals(rows: NDArray[Any]) -> list[list[float]]:
    """The shortest decimals that read back as the same float32."""
    return [[_decimal(value) for value in row] for row in np.asarray(rows, np.float32)]


def _decimal(value: np.float32) -> float:
    if value == int(value):
        return int(value)
    return float(str(value))
