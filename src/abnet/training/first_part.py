"""`FirstPart`: the training rows of a mixture."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abnet.tables.preparation import CodedMap
from abnet.training.learned import PreparedRows
from abnet.utils.coded_rows import CodedRows

__all__ = ["FirstPart"]


@dataclass(frozen=True, eq=False)
class FirstPart:
    """Rows of the first part: what teachers and members are trained on.

    Attributes
    ----------
    X : float32 array (n, d)
        Prepared features, without codes.
    codes : int array (n,)
        Classes, 0 to K - 1.
    classes : array (K,)
        The labels of the classes.
    cells : int array (d,)
        The column of the table that each feature comes from.
    code_map : CodedMap or None
        Adds thermometer codes to the features.
    weights : float array (n,) or None
    groups : array (n,) or None
    """

    X: NDArray[np.float32]
    codes: NDArray[np.intp]
    classes: NDArray[np.generic]
    cells: NDArray[np.intp]
    code_map: CodedMap | None
    weights: NDArray[np.float64] | None
    groups: NDArray[np.generic] | None

    @classmethod
    def of(cls, rows: PreparedRows) -> "FirstPart":
        """The rows of the first part with a weight above 0."""
        first = rows.first_part()
        part = cls(
            X=first.features.base,
            codes=first.codes,
            classes=first.labels.classes,
            cells=first.features.cells,
            code_map=first.features.coded,
            weights=first.weights,
            groups=first.groups,
        )
        if part.weights is None:
            return part
        if not np.any(part.weights > 0):
            raise ValueError("all training rows have the sample weight 0: give some of them a larger weight.")
        return part.take(np.flatnonzero(part.weights > 0))

    def take(self, places: NDArray[np.intp]) -> "FirstPart":
        """Some of the rows."""
        weights = self.weights
        if weights is not None:
            weights = weights[places]
        groups = self.groups
        if groups is not None:
            groups = groups[places]
        return replace(self, X=self.X[places], codes=self.codes[places], weights=weights, groups=groups)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def n_inputs(self) -> int:
        """Number of features with their codes."""
        if self.code_map is None:
            return int(self.X.shape[1])
        return int(self.code_map.n_features_out)

    def inputs(self, X: NDArray[np.float32]) -> NDArray[np.float32] | CodedRows:
        """Inputs of the networks for some features; codes are not written out."""
        if self.code_map is None:
            return np.asarray(X, np.float32)
        return self.code_map.with_codes(X)
