"""Padding of rows to a few sizes, so that few programs are compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bucket", "padded"]


def bucket(n: int, *, least: int = 256) -> int:
    """The size that n rows (or columns) are padded to: at least `least`, and 1, 1.25, 1.5 or 1.75 times a power of two.

    Examples
    --------
    >>> [bucket(n) for n in (10, 300, 455, 456, 52_500)]
    [256, 320, 512, 512, 57344]
    """
    if n <= least:
        return least
    quarter = 2 ** (int(n - 1).bit_length() - 3)
    return -(-n // quarter) * quarter


def padded(array: NDArray[Any], total: int) -> NDArray[np.float32]:
    """The rows with rows of zeros below them, `total` in all, in float32.

    Examples
    --------
    >>> padded(np.ones((1, 2)), 2).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    if len(array) == total and array.dtype == np.float32:
        return array
    rows = np.zeros((total, *array.shape[1:]), np.float32)
    rows[: len(array)] = array
    return rows
