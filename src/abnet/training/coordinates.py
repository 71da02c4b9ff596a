"""Better axes for the optimiser: inputs without what they share with the constant, each of a similar size.

Lifted rows are unit vectors in which the constant takes part, so that every column moves with it, and Adam crawls.
Training on centred columns and going back at the end changes nothing in the model: ``U c = V z`` for every row.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM

__all__ = ["Centring"]

FLOOR = 0.5
"""Share of the mean deviation below which a column is not stretched any further: rare features stay rare."""


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
    def of(lifted: NDArray[np.float32]) -> "Centring":
        """The map that suits these rows (rows, d + 1)."""
        constant = lifted[:, -1].astype(np.float64)
        square = float(np.mean(constant**2))
        mean = np.asarray(np.mean(lifted[:, :-1] * lifted[:, -1:], axis=0, dtype=np.float64))
        shift = mean / square
        # E (z - shift z_0)², and its part that is no mean: from sums, without a copy of the rows.
        second = np.einsum("ij,ij->j", lifted[:, :-1], lifted[:, :-1], dtype=np.float64) / len(lifted)
        first = np.mean(lifted[:, :-1], axis=0, dtype=np.float64) - shift * constant.mean()
        variance = np.maximum(second - shift**2 * square - first**2, 0)
        typical = float(variance.mean())
        factor = 1 / np.sqrt(variance + FLOOR**2 * typical + 1e-12) / np.sqrt(len(variance))
        return Centring(shift, factor, square**-0.5)

    def apply(self, lifted: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centred rows, in float32."""
        out = lifted * np.append(self.factor, self.last).astype(np.float32)
        out[:, :-1] -= lifted[:, -1:] * (self.shift * self.factor).astype(np.float32)
        return np.asarray(out)

    def network(self, centred: BAM) -> BAM:
        """The network on lifted rows that computes what `centred` computes on centred ones."""
        W = np.asarray(centred.weights[0], np.float64) * self.factor
        b = np.asarray(centred.biases[0], np.float64) * self.last - W @ self.shift
        weights = (W.astype(np.float32), *centred.weights[1:])
        return BAM(weights, (b.astype(np.float32), *centred.biases[1:]))
