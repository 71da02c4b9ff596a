"""Zero mean and unit variance over all rows, as the paper prepares its tables."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["standardise"]


def standardise(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(x - mean) / standard deviation``, column by column over all rows; constant columns become 0.

    The result depends on every row, those of the bound and of the test included. A certificate computed on it is void
    (it is an estimate); fit a scaler on the prior part alone instead.

    Examples
    --------
    >>> standardise(np.array([[1, 5], [3, 5]], np.float32))
    array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    mean, deviation = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    varies = X.max(axis=0) > X.min(axis=0)  # rounding may leave a constant column a tiny deviation
    return np.where(varies, (X - mean) / np.where(varies, deviation, 1.0), 0.0).astype(np.float32)
