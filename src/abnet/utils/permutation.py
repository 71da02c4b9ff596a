"""Permutations of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.utils.threads import parallel_map, threads_for

__all__ = ["ordered", "places_in"]


def places_in(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Position of each row in a permutation: the inverse permutation.

    Examples
    --------
    >>> places_in(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def ordered(rows: NDArray[Any], order: NDArray[np.intp] | None) -> NDArray[Any]:
    """Rows in the given order; unchanged if there is none.

    Examples
    --------
    >>> ordered(np.array([[1], [2], [3]]), np.array([2, 0, 1])).tolist()
    [[3], [1], [2]]
    """
    if order is None:
        return rows
    out = np.empty((len(order), *rows.shape[1:]), rows.dtype)
    threads = threads_for(len(order))
    parts = zip(np.array_split(order, threads), np.array_split(out, threads), strict=True)

    def take_part(part: tuple[NDArray[np.intp], NDArray[Any]]) -> None:
        places, part_of_out = part
        np.take(rows, places, axis=0, out=part_of_out, mode="clip")

    parallel_map(take_part, parts, threads)
    return out
