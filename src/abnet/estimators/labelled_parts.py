"""Labelled rows with their groups: split them at random, take some of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.utils.caller_rows import take_rows

__all__ = ["Labelled", "split_at_random", "take"]


class Labelled(NamedTuple):
    """Features, as a frame or an array, labels, and groups if the rows come in groups."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None = None


def take(data: Labelled, rows: NDArray[np.intp]) -> Labelled:
    """Some rows of a labelled table or array."""
    groups = data.groups
    if groups is not None:
        groups = groups[rows]
    return Labelled(take_rows(data.X, rows), data.y[rows], groups)


def split_at_random(data: Labelled, fraction: float, seed: int) -> Split:
    """Split off about ``fraction · n`` rows, chosen by a hash of their content; groups stay whole."""
    return Split.of(row_hashes(data.X, data.y), fraction, seed, data.groups)
