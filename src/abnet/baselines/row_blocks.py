"""Prediction over blocks of rows, so that memory does not grow with the table."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["map_rows"]

ROWS = 8192  # 50 MB of float64 at 784 columns


def map_rows(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], X: ArrayLike, *, columns: int, rows: int = ROWS
) -> NDArray[np.float64]:
    """Apply a row-wise function to float64 blocks of X and join the results.

    Parameters
    ----------
    function : callable
        Takes an array (block, columns) and gives an array (block,).
    X : array (n, columns)
    columns : int
        Number of columns the model takes; anything else is refused.
    rows : int
        Rows in a block.

    Examples
    --------
    >>> map_rows(lambda x: x.sum(1), [[1, 2], [3, 4], [5, 6]], columns=2, rows=2)
    array([ 3.,  7., 11.])
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"X must have shape (rows, {columns}), the columns the network was trained on; got {X.shape}.")
    result = np.empty(len(X))
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        result[block] = function(X[block].astype(np.float64))
    return result
