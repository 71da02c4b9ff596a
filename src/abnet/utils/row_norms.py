"""Divide the weighted sums of rows by the norms of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["over_norms"]


def over_norms(sums: NDArray[Any], squares: NDArray[Any]) -> NDArray[Any]:
    """Weighted sums divided by ``sqrt(2(‖x‖² + 1))``.

    Parameters
    ----------
    sums : array (n, d_1)
    squares : array (n,)
        The ``‖x‖²`` of each row; if it is not finite, so are none of the results for the row.

    Examples
    --------
    >>> over_norms(np.array([[6.0]]), np.array([7.0]))
    array([[1.5]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        doubled = 2 * (squares + 1)
        # A finite sum divided by infinity would be zero, and hide that the row is too large.
        doubled = np.where(np.isfinite(doubled), doubled, squares.dtype.type(np.nan))
        return np.asarray(sums / np.sqrt(doubled)[:, None])
