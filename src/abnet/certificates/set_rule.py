"""`Sets` asks for prediction sets; a `SetRule` has their thresholds, and finds the classes in each set."""

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.utils.checks import level

__all__ = ["SLACK", "SetRule", "Sets"]

SLACK = 2e-5
"""A threshold lies this far below the probability that it was computed from. The probabilities of a row may differ by
as much from batch to batch (`abnet.certificates.row_by_row`), and so no rounding can make the promise false."""


@dataclass(frozen=True)
class Sets:
    """What is asked of prediction sets.

    Parameters
    ----------
    alpha : float
        Largest share of new rows whose true class is not in the set.
    by_class : bool
        Whether this is promised for the rows of every class, jointly, and not only for all rows together.

    Examples
    --------
    >>> Sets(0.1, by_class=True)
    Sets(alpha=0.1, by_class=True)
    """

    alpha: float
    by_class: bool = False

    def __post_init__(self) -> None:
        level("alpha", self.alpha)


class SetRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds of prediction sets.

    Attributes
    ----------
    alpha : float
        Largest rate of misses.
    by_class : bool
        Whether each class has a threshold of its own.
    thresholds : tuple of float or None
        For each class that the model knows: it is in the set if its probability is at least this. None for a class that
        is in every set.

    Examples
    --------
    >>> rule = SetRule(alpha=0.1, by_class=True, thresholds=(0.3, None))
    >>> rule.contains([[0.9, 0.1], [0.2, 0.8]])
    array([[ True,  True],
           [False,  True]])
    """

    alpha: float
    by_class: bool
    thresholds: tuple[float | None, ...]

    def __post_init__(self) -> None:
        level("alpha", self.alpha)
        if not self.by_class and len(set(self.thresholds)) != 1:
            raise ValueError("without by_class all classes have the same threshold.")

    def contains(self, probabilities: ArrayLike) -> NDArray[np.bool_]:
        """Which classes are in the set of each row, (n, K).

        Parameters
        ----------
        probabilities : float array (n, K)
        """
        values = np.asarray(probabilities, np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.thresholds):
            raise ValueError(
                f"the sets are for {len(self.thresholds)} classes; got probabilities of shape {values.shape}."
            )
        least = [-np.inf if threshold is None else threshold for threshold in self.thresholds]
        return np.asarray(values >= np.array(least))

    @property
    def n_thresholds(self) -> int:
        """Number of thresholds that come from a row each; without `by_class` all classes have the same one."""
        n_found = len(self.thresholds) - self.thresholds.count(None)
        return min(n_found, self.n_own)

    @property
    def n_own(self) -> int:
        """Number of classes that could have a threshold of their own; 1 if all have the same."""
        if self.by_class:
            return len(self.thresholds)
        return 1
