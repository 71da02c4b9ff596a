"""`ThermometerCodes`: a scikit-learn transformer that finds the thresholds of thermometer codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from abnet.tables.preparation.thermometer_map import ThermometerMap, column_thresholds

__all__ = ["ThermometerCodes"]


class ThermometerCodes(TransformerMixin, BaseEstimator):
    """Each column as signs ``sgn(x - t)`` for thresholds ``t`` between its distinct values.

    A column with at most ``n_thresholds + 1`` distinct values gets a threshold between all neighbours; a column with
    more gets the maximum number, evenly spaced *by rank* of the distinct values, not of the rows: if nine rows in ten
    have the same number, all quantiles of rows coincide. Numbers are coded as in float32. A 0-1 column becomes one
    sign, a constant column disappears, and every row has the same norm, which suits networks that divide by it.

    Thresholds are fitted to data: pass the transformer to a classifier as ``preprocessor``, which fits it on the first
    part of the rows only. No labels are used.

    Parameters
    ----------
    n_thresholds : int
        Maximum number of thresholds per column.

    Attributes
    ----------
    thresholds_ : list of arrays
        For each column, increasing.
    n_features_in_ : int

    Examples
    --------
    >>> codes = ThermometerCodes().fit([[1.0, 0.0], [2.0, 1.0], [5.0, 0.0]])
    >>> [thresholds.round(3) for thresholds in codes.thresholds_]
    [array([1.455, 3.455]), array([0.455])]
    >>> codes.transform([[3.0, 1.0]])
    array([[ 1., -1.,  1.]], dtype=float32)
    """

    def __init__(self, n_thresholds: int = 32) -> None:
        self.n_thresholds = n_thresholds

    def fit(self, X: Any, y: Any = None) -> "ThermometerCodes":
        """Find the thresholds of every column."""
        if self.n_thresholds < 1:
            raise ValueError(f"n_thresholds must be a whole number of at least 1; got {self.n_thresholds!r}.")
        rows = validate_data(self, X, dtype=[np.float64, np.float32])
        self.thresholds_ = [column_thresholds(column, self.n_thresholds) for column in rows.T]
        if not any(len(thresholds) for thresholds in self.thresholds_):
            raise ValueError(f"every column ({rows.shape[1]}) is constant on the {rows.shape[0]} rows: no thresholds.")
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return ThermometerMap.from_codes(self).transform(rows)
