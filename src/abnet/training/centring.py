"""Centred and scaled coordinates for the optimiser.

Lifted rows are unit vectors that include the constant, so every column is correlated with it, and Adam converges
slowly. Training on centred columns and mapping the weights back at the end gives the same model: ``U c = V z`` for
every row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.bam import BAM

__all__ = ["STREAMED", "Centring"]

FLOOR = 0.5
"""Columns with a deviation below this fraction of the mean are not scaled up further: rare features stay small."""


@dataclass(frozen=True, eq=False)
class Centring:
    """A linear map of lifted rows z to rows c: ``c_j = (z_j - shift_j z_0) factor_j``, ``c_0 = last · z_0``.

    Attributes
    ----------
    shift, factor : arrays (d,)
    last : float
        Factor of the constant's column, the last one.

    Examples
    --------
    >>> rows = np.array([[0.6, 0.0, 0.8], [0.0, 0.6, 0.8], [0.8, 0.0, 0.6]], np.float32)
    >>> centring = Centring.of(rows)
    >>> centred = centring.apply(rows)
    >>> U = BAM((np.array([[1.0, -2.0]]),), (np.array([0.5]),))
    >>> V = centring.network(U)
    >>> bool(np.allclose(centred @ U.layers[0].T, rows @ V.layers[0].T, atol=1e-6))
    True
    """

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]
    last: float

    @staticmethod
    def of(lifted: Any) -> "Centring":
        """The map fitted to these rows (rows, d + 1): an array, or an object that returns arrays for slices."""
        n = len(lifted)
        constant = np.empty(n)
        sum_of_products = np.zeros(0)
        sum_of_squares = np.zeros(0)
        total = np.zeros(0)
        for start in range(0, n, STREAMED):
            block = lifted[start : start + STREAMED]
            z = block[:, :-1]
            constant[start : start + STREAMED] = block[:, -1]
            sum_of_products = _continued(sum_of_products, z * block[:, -1:])
            sum_of_squares = _continued(sum_of_squares, np.square(z, dtype=np.float64))
            total = _continued(total, z)
        square = float(np.mean(constant**2))
        shift = (sum_of_products / n) / square
        # E (z - shift z_0)² and its variance, from sums, without a copy of the rows.
        centred_mean = total / n - shift * constant.mean()
        variance = np.maximum(sum_of_squares / n - shift**2 * square - centred_mean**2, 0)
        typical = float(variance.mean())
        factor = 1 / np.sqrt(variance + FLOOR**2 * typical + 1e-12) / np.sqrt(len(variance))
        return Centring(shift, factor, square**-0.5)

    def apply(self, lifted: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centred rows, in float32."""
        out = lifted * np.append(self.factor, self.last).astype(np.float32)
        out[:, :-1] -= lifted[:, -1:] * (self.shift * self.factor).astype(np.float32)
        return np.asarray(out)

    def network(self, centred: BAM) -> BAM:
        """The network on lifted rows that computes the same as `centred` on centred rows."""
        W = np.asarray(centred.weights[0], np.float64) * self.factor
        b = np.asarray(centred.biases[0], np.float64) * self.last - W @ self.shift
        weights = (W.astype(np.float32), *centred.weights[1:])
        return BAM(weights, (b.astype(np.float32), *centred.biases[1:]))


STREAMED = 1024
"""Rows that are centred at a time."""


def _continued(total: NDArray[np.float64], block: NDArray[Any]) -> NDArray[np.float64]:
    """Continue a sequential sum over rows with a block: the result does not depend on the block size."""
    rows = np.asarray(block, np.float64)
    if len(total):
        rows = np.concatenate([total[None], rows])
    return np.asarray(np.add.reduce(rows, axis=0))
