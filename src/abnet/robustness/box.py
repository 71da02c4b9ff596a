"""`Boxes`: intervals of features, and the exact minimum of a sum of functions of one feature each over them.

Between two thresholds a feature's function is linear, so its minimum over an interval is at an end of a piece: an end
of the interval, a threshold, or the float32 just below a threshold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.robustness.exact_network import ExactNetwork

__all__ = ["Boxes", "Pieces"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Intervals ``[low, high]`` of float32 features, each (n, features)."""

    low: Singles
    high: Singles

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, rows: Any) -> "Boxes":
        return Boxes(self.low[rows], self.high[rows])

    @property
    def centre(self) -> Singles:
        """A point of each box near its middle."""
        middle = (self.low.astype(np.float64) + self.high.astype(np.float64)) / 2.0
        return np.clip(middle.astype(np.float32), self.low, self.high)

    @property
    def moving(self) -> list[int]:
        """Features that move in some box."""
        return np.flatnonzero((self.low < self.high).any(axis=0)).tolist()


@dataclass(frozen=True, eq=False)
class Pieces:
    """The points of one feature at which a sum of a linear function and a step function can be smallest.

    Attributes
    ----------
    points : float32 array (n, P)
        Points of the interval; those outside of it are replaced by its lower end.
    reached : int array (n, P)
        Number of thresholds that each point reaches.
    """

    points: Singles
    reached: NDArray[np.intp]

    @staticmethod
    def of(network: ExactNetwork, j: int, boxes: Boxes) -> "Pieces":
        """The points of feature j in each box."""
        low = boxes.low[:, j, None]
        high = boxes.high[:, j, None]
        at = network.thresholds[j]
        below = np.nextafter(at, np.float32(-np.inf))
        points = np.concatenate(
            [
                low,
                high,
                np.where((at >= low) & (at <= high), at, low),
                np.where((below >= low) & (below <= high), below, low),
            ],
            axis=1,
        )
        return Pieces(points, network.reached(j, points))

    def values(self, slopes: Floats, steps: Floats) -> Floats:
        """``slope · f + step[r(f)]`` at the points.

        Parameters
        ----------
        slopes : array (n, q)
        steps : array (q, codes + 1), or (n, q, codes + 1)

        Returns
        -------
        array (n, q, P)
        """
        linear = slopes[:, :, None] * self.points.astype(np.float64)[:, None, :]
        if steps.shape[-1] == 1:
            return linear + steps
        if steps.ndim == 2:
            return linear + steps[:, self.reached].transpose(1, 0, 2)
        return linear + np.take_along_axis(steps, self.reached[:, None, :], axis=2)
