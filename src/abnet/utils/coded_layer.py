"""The weighted sums of a layer for coded rows, by looking up what each thermometer code contributes.

A code of n signs has n + 1 values, so its contribution to a neuron's sum is one of n + 1 numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.utils.coded_rows import CodedRows
from abnet.utils.row_norms import over_norms

__all__ = ["MANY_CODED", "CodedLayer"]

MANY_CODED = 512
"""From this many rows on, looking up sums is faster; for fewer rows the signs are written out."""


class CodedLayer:
    """``W x + b`` of coded rows, by looking up what each code contributes.

    Parameters
    ----------
    W : array (outputs, inputs)
    b : array (outputs,)
    counts : tuple of int
        Number of thresholds of each feature, as in the rows.
    dtype : float64 or float32
        Of the sums. The tables are computed in float64 and rounded once.

    Examples
    --------
    >>> rows = CodedRows(np.array([[0.2, 7.0]], np.float32), np.array([[1]]), (2, 0))
    >>> CodedLayer(np.array([[1.0, 1.0, 5.0, 3.0]]), np.array([0.5]), (2, 0)).sums(rows).round(3)
    array([[9.7]])
    """

    def __init__(self, W: NDArray[Any], b: NDArray[Any], counts: tuple[int, ...], dtype: Any = np.float64) -> None:
        n_features = len(counts)
        self._dtype = dtype
        self._n_signs = sum(counts)
        self._weights_of_features = np.ascontiguousarray(W[:, :n_features].T, dtype)
        self._b = np.asarray(b, dtype)
        self._tables = []
        first = n_features
        for count in counts:
            if count:
                weights_of_signs = np.asarray(W[:, first : first + count], np.float64)
                self._tables.append(_sums_of_signs(weights_of_signs).astype(dtype))
                first += count

    def sums(self, rows: CodedRows) -> NDArray[Any]:
        """``W x + b`` of each row, (n, outputs)."""
        total = rows.features.astype(self._dtype, copy=False) @ self._weights_of_features + self._b
        looked_up = np.empty_like(total)
        for table, reached in zip(self._tables, rows.reached, strict=True):
            total += np.take(table, reached, axis=0, out=looked_up, mode="clip")
        return total

    def arguments(self, rows: CodedRows) -> NDArray[Any]:
        """``(W x + b)/sqrt(2(‖x‖² + 1))``, as `leading_arguments` of the rows with their signs written out."""
        x = rows.features.astype(self._dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.vecdot(x, x) + x.dtype.type(self._n_signs)  # each sign has the square 1
            return over_norms(self.sums(rows), squares)


def _sums_of_signs(W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row r: the sum of the first r columns of W (outputs, count) less that of the others, for r = 0 to count.

    Examples
    --------
    >>> _sums_of_signs(np.array([[5.0, 3.0]])).tolist()
    [[-8.0], [2.0], [8.0]]
    """
    nothing = np.zeros((1, len(W)))
    first = np.concatenate([nothing, np.cumsum(W.T, axis=0)])
    others = np.concatenate([nothing, np.cumsum(W.T[::-1], axis=0)])[::-1]
    return np.ascontiguousarray(first - others)
