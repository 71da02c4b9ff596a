"""Synthetic rows for distillation: training rows in which some cells are replaced by those of another row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["n_synthetic", "recombined_rows"]

SYNTHETIC_PER_ROW = 30
"""Synthetic rows for each training row, within limits. With fewer, a network learns the rows and not the teacher."""
LEAST_SYNTHETIC = 12_000
"""Minimum number of synthetic rows."""
MOST_SYNTHETIC = 60_000
"""Maximum number of synthetic rows."""


def recombined_rows(
    X: NDArray[Any], cells: NDArray[np.intp], rng: np.random.Generator, most: int = MOST_SYNTHETIC
) -> NDArray[Any]:
    """Synthetic rows: each is a training row in which some cells are replaced by those of one other training row.

    The share of replaced cells is drawn from [0, 1/2] for each row. All replaced cells of a row come from the same
    other row, because cells of one row fit each other.

    Parameters
    ----------
    X : array (n, d)
        Prepared training rows.
    cells : array (d,)
        The column of the table that each feature comes from: the features of a cell are replaced together.
    rng : numpy.random.Generator
    most : int
        Maximum number of synthetic rows.

    Examples
    --------
    >>> X = np.array([[0, 10, 20], [1, 11, 21]])
    >>> synthetic = recombined_rows(X, np.array([0, 1, 1]), np.random.default_rng(0))
    >>> synthetic.shape, bool((synthetic[:, 2] - synthetic[:, 1] == 10).all())
    ((12000, 3), True)
    """
    n_rows = len(X)
    count = n_synthetic(n_rows, most)
    if count >= n_rows:
        base = rng.permutation(np.resize(np.arange(n_rows), count))
    else:
        base = rng.choice(n_rows, count, replace=False)
    synthetic = X[base]
    other = rng.integers(0, n_rows, count)
    share_replaced = rng.uniform(0, 0.5, count)
    for cell in range(int(cells.max()) + 1):
        features = np.flatnonzero(cells == cell)
        rows = np.flatnonzero(rng.random(count) < share_replaced)
        synthetic[np.ix_(rows, features)] = X[np.ix_(other[rows], features)]
    return np.asarray(synthetic)


def n_synthetic(n_rows: int, most: int = MOST_SYNTHETIC) -> int:
    """The number of synthetic rows for this number of training rows.

    Examples
    --------
    >>> [n_synthetic(n) for n in (100, 1_000, 10_000)]
    [12000, 30000, 60000]
    """
    usual = int(np.clip(SYNTHETIC_PER_ROW * n_rows, LEAST_SYNTHETIC, MOST_SYNTHETIC))
    return min(usual, most)
