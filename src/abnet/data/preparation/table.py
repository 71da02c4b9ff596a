"""The scikit-learn transformer that learns how to prepare a table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from abnet.data.preparation.choose import choose
from abnet.data.preparation.table_map import TableMap, as_frame
from abnet.data.tables.error import TableError, listed

__all__ = ["TablePreparation"]


class TablePreparation(TransformerMixin, BaseEstimator):
    """Features for a network from a table of numbers, truths, dates and text, with missing values.

    Give it to a classifier as ``preprocessor=TablePreparation()``: it is then fitted on the prior part only, as a
    certificate demands.

    ==========  ==================================================================================================
    column      features
    ==========  ==================================================================================================
    numeric     ``(x - mean) / deviation``, missing values replaced by the median; a 0-1 feature says where they
                were, if fitting met any (one first met later is the median, and nothing else)
    boolean     true, yes = +1; false, no = -1; missing = 0, with a 0-1 feature as above
    date        days since 1970-01-01, scaled, imputed and marked as numbers are; ``sin`` and ``cos`` of the season
                where the dates of the fit span a year; missing = 0 in the season
    text        a 0-1 feature per category, one for the rare ones together, one for missing if fitting met any;
                numbers with a leading zero (zip codes) are text
    ==========  ==================================================================================================

    Empty cells, NaN, ``nan``, ``null``, ``#N/A`` are missing everywhere; ``NA``, ``None``, ``?``, ``-``, ``.`` among
    numbers, truths and dates, while in text columns they are categories. Columns without any value, constant ones and
    text identifiers (all values differ) are dropped, and listed in `notices_`. A category that fitting never met is 0
    in every feature, or counts among the rare ones, with a warning.

    A column is a date if its type says so, or if nine in ten of its texts are dates: ISO (``2024-03-01``, with or
    without a time; a time with a zone is taken to UTC), numbers with a year of four digits (``1/3/2024``,
    ``01.03.2024``), or with an English month (``1 Mar 2024``). ``2024`` and ``20240301`` are numbers. Whether day or
    month comes first is learned from the values, since none above 12 is a month; where they do not tell, it is the day,
    with a remark in `notices_`. What cannot be read as a date counts as missing, with a warning.

    Parameters
    ----------
    max_categories : int
        Most features for the categories of a text column; the most frequent categories have their own. At least 2.

    Attributes
    ----------
    map_ : TableMap
        What was learned, as plain values; transforms without scikit-learn.
    notices_ : list of str
        Columns dropped and why, and columns that may not be what they seem.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": ["20", "40", ""], "city": ["Oslo", "Bergen", "Oslo"], "country": "Norway"})
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['age', 'age (missing)', 'city=Bergen', 'city=Oslo']
    >>> preparation.transform(table)[2].tolist()
    [0.0, 1.0, 0.0, 1.0]
    >>> preparation.notices_
    ["column 'country' is left out: constant (Norway)"]
    """

    def __init__(self, *, max_categories: int = 20) -> None:
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> "TablePreparation":
        """Decide the kind of every column and learn its numbers; `y` is ignored."""
        frame = as_frame(X)
        if type(self.max_categories) is not int or self.max_categories < 2:
            raise ValueError(f"max_categories must be a whole number of 2 or more, got {self.max_categories!r}.")
        if len(frame) == 0 or frame.shape[1] == 0:
            raise TableError(f"a table needs rows and columns to be prepared; got {len(frame)} by {frame.shape[1]}.")
        if not frame.columns.is_unique:
            repeated = frame.columns[frame.columns.duplicated()].unique()
            raise TableError(f"column names must differ, but {listed(repeated)} repeat; rename them.")
        choices = {str(name): choose(str(name), column, self.max_categories) for name, column in frame.items()}
        dropped = {name: choice.dropped for name, choice in choices.items() if choice.column is None}
        columns = tuple(choice.column for choice in choices.values() if choice.column is not None)
        if not columns:
            reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(dropped.items())[:5])
            raise TableError(f"no column is of use in {len(frame)} rows: {reasons}; add columns that vary.")
        self.map_ = TableMap(columns, dropped)
        self.notices_ = [f"column {name!r} is left out: {reason}" for name, reason in dropped.items()]
        self.notices_ += [choice.notice for choice in choices.values() if choice.notice]
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.array([str(name) for name in frame.columns], object)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features (n, d) in float32; see `TableMap.transform`."""
        check_is_fitted(self)
        return self.map_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, in order."""
        check_is_fitted(self)
        return self.map_.get_feature_names_out()

    def to_dict(self) -> dict[str, Any]:
        """What was learned, as plain values for a model file; `preparation_from_dict` reads it."""
        check_is_fitted(self)
        return self.map_.to_dict()
