"""`LabelledRows`: the checked input of `fit`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d, validate_data

from abnet.tables.held_out_rows import HeldOutRows
from abnet.tables.label_types import sorted_as_typed
from abnet.tables.labels import Labels, check_labelled
from abnet.tables.preparation.array_checks import with_advice
from abnet.tables.table import as_frame, as_table
from abnet.tables.times import Times, read_times
from abnet.utils.caller_rows import column_names, is_frame, take_column, without_column
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.label_values import label_values

__all__ = ["LabelledRows", "checked_rows", "without_groups", "without_times"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Labelled rows, as passed to `fit`.

    Attributes
    ----------
    X : array, sparse matrix or frame (n, d)
    labels : Labels
        All labels that occur. Their order decides on the split only; `known_classes` finds the classes of the model.
    codes : int array (n,)
        Code of each row's label.
    weights : float array (n,) or None
    groups : array (n,) or None
        Group of each row.
    times : Times or None
        When each row was recorded, if the rows are split by time.
    feature_names : tuple of str or None
    is_frame : bool
        Whether X was passed as a frame. This depends only on its type: if it depended on cells, one bound row with a
        missing value could change how all rows are prepared.
    emptied : bool
        Whether the frame was made for this fit only. It is then freed as soon as its rows are prepared, because text
        takes several times their memory.
    written : bool
        Whether labels that are text are the cells of a table, whose type the labels of the training rows decide.
    held_out : HeldOutRows or None
        The held-out rows of a table larger than memory; the rows of X are then its training rows.
    """

    X: Any
    labels: Labels
    codes: NDArray[np.intp]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    times: Times | None = None
    feature_names: tuple[str, ...] | None = None
    is_frame: bool = False
    emptied: bool = False
    written: bool = False
    held_out: HeldOutRows | None = None

    @property
    def label_values(self) -> NDArray[np.float64]:
        """The labels as numbers."""
        return label_values(self.codes, self.labels.n_classes)


def checked_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    *,
    preprocessor: Any,
    gaps: bool = False,
    emptied: bool = False,
    written: bool = False,
    held_out: HeldOutRows | None = None,
) -> LabelledRows:
    """Check rows, labels, weights, groups and times; sets ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    estimator : BaseEstimator
        For scikit-learn's checks.
    X, y, sample_weight, groups, time
        As given to `fit`.
    preprocessor : transformer, str or None
        With a transformer of the user, and with "table", X may have any cells; with "auto" a frame may.
    gaps : bool
        Whether an array may have missing values.
    emptied, written, held_out
        As in `LabelledRows`.
    """
    X, groups = without_groups(as_frame(X), groups)
    X, times = without_times(X, time)
    check_labelled(y)
    named = preprocessor is None or isinstance(preprocessor, str)
    if not named or preprocessor == "table" or (preprocessor == "auto" and is_frame(X)):
        X, y = validate_data(estimator, X, y, skip_check_array=True)
        y = column_or_1d(np.asarray(y), warn=True)
        check_consistent_length(X, y)
    else:
        finite: bool | str = True
        if gaps:
            finite = "allow-nan"
        try:
            X, y = validate_data(
                estimator,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_min_samples=2,
                ensure_all_finite=finite,
            )
        except ValueError as error:
            raise with_advice(error, preprocessor) from None
    y = _checked_labels(y)
    if times is not None:
        check_consistent_length(y, times)
    weights = None
    if sample_weight is not None:
        numbers = np.empty((X.shape[0], 1))
        weights = _check_sample_weight(sample_weight, numbers, dtype=np.float64, ensure_non_negative=True)
    labels = Labels.of(y)
    if written:
        labels = Labels(labels.classes[sorted_as_typed(labels.classes)])
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        names = tuple(map(str, names))
    return LabelledRows(
        X,
        labels,
        labels.encode(y),
        weights=weights,
        groups=groups,
        times=times,
        feature_names=names,
        is_frame=is_frame(X),
        emptied=emptied,
        written=written,
        held_out=held_out,
    )


def _checked_labels(y: Any) -> NDArray[Any]:
    if y.ndim == 1 and y.dtype.kind == "U":  # text is never a quantity
        return np.asarray(y)
    try:
        check_classification_targets(y)
    except TypeError as error:
        raise ValueError("y mixes labels that cannot be sorted, such as numbers and text: use one type.") from error
    return np.asarray(y)


def without_groups(X: Any, groups: Any) -> tuple[Any, NDArray[Any] | None]:
    """Take the group column out of a frame; without a column name, return rows and groups unchanged.

    Parameters
    ----------
    X : array, sparse matrix or frame (n, d)
    groups : None, array (n,) or str
        A string is the name of a column of the frame, which is then not used as a feature.

    Examples
    --------
    >>> import polars as pl
    >>> rows, groups = without_groups(pl.DataFrame({"age": [40, 50], "patient": ["a", "b"]}), "patient")
    >>> rows.columns, groups.tolist()
    (['age'], ['a', 'b'])
    """
    if groups is None:
        return X, None
    if not isinstance(groups, str):
        return X, np.asarray(groups)
    if groups not in column_names(X):
        raise ParameterError("{}: no column {!r} in X.", Parameter("groups"), groups)
    return without_column(X, groups), take_column(X, groups)


def without_times(X: Any, time: Any) -> tuple[Any, Times | None]:
    """Take the times out of a frame, or read those given beside it; without times, return the rows unchanged.

    Every held-out row is later than every training row, so a model that used the time would extrapolate: a column that
    is named is not used as a feature.

    Parameters
    ----------
    X : array, sparse matrix or frame (n, d)
    time : None, Times, array (n,) or str
        A string is the name of a column of the frame.

    Examples
    --------
    >>> import polars as pl
    >>> rows, times = without_times(pl.DataFrame({"age": [40, 50], "seen": ["2024-03-01", "2024-03-02"]}), "seen")
    >>> rows.columns, times.values.tolist()
    (['age'], [19783.0, 19784.0])
    """
    if time is None or isinstance(time, Times):
        return X, time
    if not isinstance(time, str):
        return X, read_times(time)
    if time not in column_names(X):
        raise ParameterError("{}: no column {!r} in X.", Parameter("time"), time)
    table = as_table(X)
    return without_column(X, time), read_times(table.columns[time], time, index=table.index)
