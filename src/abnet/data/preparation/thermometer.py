"""Columns as answers to "is it above?", for networks whose neurons see only weighted sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from abnet.data.preparation.coded import midpoints
from abnet.data.preparation.thermometer_map import ThermometerMap

__all__ = ["ThermometerCodes"]


class ThermometerCodes(TransformerMixin, BaseEstimator):
    """Each column as signs ``sgn(x - t)`` for thresholds ``t`` between its distinct values.

    A column with at most ``n_thresholds + 1`` distinct values gets all midpoints between neighbours; one with more, as
    many of them as allowed, evenly spaced *by rank*. Ranks of distinct values, not of rows: where nine rows in ten
    hold the same number, all quantiles of rows coincide. A 0-1 column becomes one sign, a constant one disappears, and
    every row has the same norm, which suits networks that divide by it.

    Thresholds are fitted to data: give the transformer to a classifier as ``preprocessor``, which fits it on the first
    part of the rows alone. No labels are used.

    Parameters
    ----------
    n_thresholds : int
        Thresholds of a column at the most.

    Attributes
    ----------
    thresholds_ : list of arrays
        For each column, increasing.
    n_features_in_ : int

    Examples
    --------
    >>> codes = ThermometerCodes().fit([[1.0, 0.0], [2.0, 1.0], [5.0, 0.0]])
    >>> codes.thresholds_
    [array([1.5, 3.5]), array([0.5])]
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
        self.thresholds_ = [midpoints(column, self.n_thresholds) for column in rows.T]
        if not any(len(thresholds) for thresholds in self.thresholds_):
            raise ValueError(f"all {rows.shape[1]} columns are constant on the {rows.shape[0]} rows: no thresholds.")
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return ThermometerMap.from_codes(self).transform(rows)
