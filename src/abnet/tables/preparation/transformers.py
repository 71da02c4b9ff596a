"""scikit-learn transformers that fit a preparation: of a table, or thermometer codes of an array.

The file also checks rows before they are prepared, with error messages that say what to do.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from abnet.tables.columns import NumericColumn, far_cells, far_notes, read_numbers
from abnet.tables.columns.options import COLUMN_PARAMETERS, ColumnOptions
from abnet.tables.frames import as_table, is_plan
from abnet.tables.leaks import leaks
from abnet.tables.notes import Note, note_lines
from abnet.tables.preparation.choose import choose_all
from abnet.tables.preparation.shared_ids import shared_id
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.preparation.thermometer import ThermometerMap, cuts
from abnet.tables.table_errors import TableError, check_unique_names
from abnet.utils.caller_rows import is_frame
from abnet.utils.errors import Parameter, ParameterError

__all__ = [
    "PlainNumbers",
    "TablePreparation",
    "ThermometerCodes",
    "as_frame",
    "check_preprocessor",
    "check_size",
    "has_far_cells",
    "hint_at_scales",
    "with_advice",
]

_DECIMALS = {"auto": "", "point": ".", "comma": ","}


class TablePreparation(TransformerMixin, BaseEstimator):
    """Features for a network from a table of numbers, booleans, dates and text, with missing values.

    Pass it to a classifier as ``preprocessor=TablePreparation()``: it is then fitted on the first part only, as a
    certificate requires.

    ==========  ==================================================================================================
    column      features
    ==========  ==================================================================================================
    numeric     ``(x - mean) / deviation``, with missing values replaced by the median; a 0-1 feature marks them if
                there were any in fitting (if not, a value missing later is only replaced by the median); cells a
                million times as far from the median as others have no part in mean and deviation
    boolean     true, yes = +1; false, no = -1; missing = 0, with a 0-1 feature as above
    date        days since 1970-01-01, scaled, imputed and marked like numbers; ``sin`` and ``cos`` of the season if
                the dates in fitting span a year; missing = 0 in the season
    text        a 0-1 feature per category, one for all rare categories, one for missing if there were any in
                fitting; numbers with a leading zero (zip codes) are text
    words       a 0-1 feature for each of the most common words (at most 150), one for missing as above; used if most
                rows have different texts in which words recur
    hashed      64 0-1 features, into which words and triples of characters are hashed, one for missing as above
    ==========  ==================================================================================================

    Empty cells, NaN, ``nan``, ``null``, ``#N/A`` are missing everywhere; ``NA``, ``None``, ``?``, ``-``, ``.`` among
    numbers, booleans and dates, while in text columns they are categories; ``unknown``, ``missing``, ``n.a.`` and the
    like among numbers. A category that did not occur in fitting is 0 in every feature, or counts as a rare one, with a
    warning.

    Text with many values (if the 20 most common ones make up less than half of the rows) becomes categories, words or
    hashed words and characters, whichever explains the labels best beyond the other columns, on validation rows among
    the given ones (`many_texts`). It is left out if none helps. Without labels it becomes words if words recur, and
    categories otherwise.

    Columns are left out if they have no name, no value or only one value, if every row has a different text, or if they
    are integers that never repeat (row numbers: in a sorted table they would predict the class, but not for new rows),
    with consecutive values, an identifier-like name, or 15 digits and more.
    So are columns with a name such as ``patient_id`` whose values rows share: they say which rows belong together.
    With `use`, such columns are kept unless they are constant.

    Numbers may have thousands separators (``1,966``, ``1 966``, ``1'966``), a decimal comma, the same unit in all cells
    (``$1,966``, ``84.4%``, ``12.3 kg``), or be durations (``01:30:00``). Numbers in brackets beside others are negative
    (``(990.11)``), and limits of measurement such as ``<0.5`` are read as the number. Other cells, at most one in ten,
    count as missing, with a note and an example. If a mark can be read in two ways, as in ``1.234`` beside ``857``, the
    other columns decide; if they do not, an error asks for `decimal`. Differences between integers above 2^53 are
    preserved.

    A column is a date if its type says so, or if nine in ten of its texts are dates: ISO (``2024-03-01``, with or
    without a time; a time with a zone is converted to UTC), numbers with the year last (``1/3/2024``, ``01.03.24``),
    with an English month (``1 Mar 2024``), or months (``2024-03``). ``2024`` and ``20240301`` are numbers. The order of
    day and month is inferred from the values, because a number above 12 is not a month; if that is not possible, the
    day comes first, with a remark in `notes_`. Cells that cannot be read as dates count as missing, with a warning.

    Parameters
    ----------
    max_categories : int
        Maximum number of features for the categories of a text column. The 20 most frequent categories have their own,
        and so has every further one with at least 3 rows, up to this number; the others share one, with a note that
        says how many. At least 2.
    decimal : {"auto", "point", "comma"}
        The decimal mark of numbers in text; the other mark separates thousands.
    use : str or sequence of str
        Columns to use even if they have no name, look like row numbers, or differ in every row.
    numeric, categorical, dates : str or sequence of str
        Columns to read as numbers, as categories or as dates, whatever they look like; cells that cannot be read as
        numbers or dates count as missing.

    Attributes
    ----------
    map_ : TableMap
        The fitted map, as plain values; it transforms without scikit-learn.
    notes_ : tuple of Note
        Notes on columns that were left out, and on columns that may be misread; ``str(note)`` is a sentence.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> table = {"age": ["20", "40", ""], "city": ["Oslo", "Bergen", "Oslo"], "country": ["Norway"] * 3}
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['age', 'age (missing)', 'city=Bergen', 'city=Oslo']
    >>> preparation.transform(table)[2].tolist()
    [0.0, 1.0, 0.0, 1.0]
    >>> print(*preparation.notes_)
    column 'country' was left out: it is constant (Norway)
    """

    def __init__(
        self,
        *,
        max_categories: int = 200,
        decimal: str = "auto",
        use: str | Sequence[str] = (),
        numeric: str | Sequence[str] = (),
        categorical: str | Sequence[str] = (),
        dates: str | Sequence[str] = (),
    ) -> None:
        self.max_categories = max_categories
        self.decimal = decimal
        self.use = use
        self.numeric = numeric
        self.categorical = categorical
        self.dates = dates

    def fit(self, X: Any, y: Any = None) -> "TablePreparation":
        """Determine the kind of every column and fit it; the labels `y` are used only for text with many values."""
        options = self.column_options()
        table = as_table(X)
        if table.n_rows == 0 or not table.columns:
            raise TableError(
                f"a table needs rows and columns to be prepared; got {table.n_rows} by {len(table.columns)}."
            )
        options.check_columns(list(table.columns))
        choices = choose_all(table, options, y)
        columns = tuple(choice.column for choice in choices.values() if choice.column is not None)
        notes = [note for choice in choices.values() for note in choice.notes]
        if not columns:
            reasons = "; ".join(note_lines(notes, most=3))
            raise TableError(f"no column can be used in {table.n_rows} rows ({reasons}); add columns that vary.")
        self.map_ = TableMap(columns, (*notes, *leaks(table, columns, y)))
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(list(table.columns), object)
        return self

    @property
    def notes_(self) -> tuple[Note, ...]:
        """Notes on the columns."""
        check_is_fitted(self, "map_")
        return self.map_.notes

    def named_columns(self) -> dict[str, list[str]]:
        """The columns that each parameter names."""
        named = {name: getattr(self, name) for name in COLUMN_PARAMETERS}
        return {name: [given] if isinstance(given, str) else list(given) for name, given in named.items()}

    def column_options(self) -> ColumnOptions:
        """The parameters, checked."""
        if type(self.max_categories) is not int or self.max_categories < 2:
            raise ValueError(f"max_categories must be a whole number of 2 or more, got {self.max_categories!r}.")
        if not isinstance(self.decimal, str) or self.decimal not in _DECIMALS:
            raise ValueError(f"decimal must be one of {', '.join(map(repr, _DECIMALS))}; got {self.decimal!r}.")
        columns = {name: frozenset(given) for name, given in self.named_columns().items()}
        return ColumnOptions(self.max_categories, _DECIMALS[self.decimal], **columns)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features (n, d) in float32; see `TableMap.transform`."""
        check_is_fitted(self)
        return self.map_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, in order."""
        check_is_fitted(self)
        return np.array(self.map_.feature_names, object)


class PlainNumbers(TablePreparation):
    """Numeric columns of a frame, unscaled; missing values are replaced by the median of the fit.

    Missing values, in fitting or later, do not change the features of other rows. Like all features of tables, numbers
    are clipped to ±1,000,000.

    Examples
    --------
    >>> PlainNumbers().fit({"a": [1.0, 3.0, 8.0]}).transform({"a": [2.0, float("nan")]}).tolist()
    [[2.0], [3.0]]

    Parameters
    ----------
    scaled : bool
        Whether columns are scaled as by scikit-learn's StandardScaler, by cells that are not far from all others.
    """

    def __init__(self, *, scaled: bool = False) -> None:
        super().__init__()
        self.scaled = scaled

    def fit(self, X: Any, y: Any = None) -> "PlainNumbers":
        """Learn the medians."""
        from sklearn.preprocessing import StandardScaler

        table = as_table(X)
        shared = [note for name in table.columns if (note := shared_id(name, table.cells(name))) is not None]
        left_out = {note.columns[0] for note in shared}
        kept = [name for name in table.columns if name not in left_out]
        if not kept:
            raise TableError(f"no column can be used ({shared[0]}); add columns that vary.")
        found = {name: read_numbers(table.cells(name)).x for name in kept}
        known = {name: x[~np.isnan(x)] for name, x in found.items()}
        fills = {name: float(np.median(x)) if len(x) else 0.0 for name, x in known.items()}
        scales, far = dict.fromkeys(kept, (0.0, 1.0)), {}
        if self.scaled:
            far = {name: far_cells(x) for name, x in found.items()}
            usual = [np.where(far[name], np.nan, x) for name, x in found.items()]
            scaler = StandardScaler().fit(np.column_stack(usual))
            pairs = zip(
                np.nan_to_num(scaler.mean_).tolist(), np.nan_to_num(scaler.scale_, nan=1.0).tolist(), strict=True
            )
            scales = dict(zip(kept, pairs, strict=True))
        columns = tuple(NumericColumn(name, fills[name], *scales[name], False) for name in fills)
        notes = [note for name, rows in far.items() for note in far_notes(name, table.cells(name), rows)]
        self.map_ = TableMap(columns, (*shared, *notes, *leaks(table, columns, y)))
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(list(table.columns), object)
        return self


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
        self.thresholds_ = [cuts(column, self.n_thresholds) for column in rows.T]
        if not any(len(thresholds) for thresholds in self.thresholds_):
            raise ValueError(f"every column ({rows.shape[1]}) is constant on the {rows.shape[0]} rows: no thresholds.")
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return ThermometerMap.from_codes(self).transform(rows)


ACCEPTED = "None, 'standardise', or an unfitted transformer with fit and transform, such as a StandardScaler for "
ACCEPTED += "numbers or an abnet.tables.preparation.TablePreparation for mixed frames (CertifiedClassifier and "
ACCEPTED += "ABNetClassifier also take 'auto' and 'table')"
APART = 1000.0
"""Ratio of deviations from which on columns count as unscaled."""


def as_frame(X: Any) -> Any:
    """Convert a dict of columns, or a Polars LazyFrame, to a frame; anything else is returned unchanged.

    Examples
    --------
    >>> as_frame({"age": [40, 50]}).columns
    ['age']
    >>> as_frame({"age": [40, 50], "size": [1.8]})
    Traceback (most recent call last):
    abnet.tables.table_errors.TableError: all columns of a table must have the same number of rows; got [1, 2].
    """
    if is_plan(X):
        return X.collect()
    if is_frame(X):
        check_unique_names([str(name) for name in X.columns])
    if not isinstance(X, Mapping) or is_frame(X) or hasattr(X, "tocsr"):
        return X
    import polars

    return polars.DataFrame(dict(as_table(X).columns), strict=False)  # 1 and 2.5 in one column, or 1 and "n/a"


LARGEST = 1e150
"""Larger numbers have no finite square, and cannot be scaled."""


def check_size(X: NDArray[Any]) -> NDArray[Any]:
    """The rows, if none of their numbers is too large to be scaled.

    Examples
    --------
    >>> check_size(np.array([[1.0, 1e200]]))
    Traceback (most recent call last):
    ValueError: column 1 holds 1e+200, and numbers of 1e+150 and above cannot be scaled: divide the column by ...
    """
    most = np.maximum(X.max(axis=0), -X.min(axis=0))  # without a copy of the rows
    if X.dtype == np.float64 and (most >= LARGEST).any():
        column = int(np.nanargmax(most))
        raise ValueError(
            f"column {column} holds {most[column]:.3g}, and numbers of {LARGEST:g} and above cannot be scaled: divide "
            "the column by a constant, or correct its cells."
        )
    return X


def has_far_cells(X: NDArray[Any]) -> bool:
    """Whether a column has cells far from all others (`far_cells`); of many rows, by 2,000 and the extremes.

    Examples
    --------
    >>> has_far_cells(np.array([[1.0], [2.0], [4.0]])), has_far_cells(np.array([[1.0], [2.0], [4.0], [3.0], [1e10]]))
    (False, True)
    """
    step = len(X) // 2000
    some = np.vstack([X[::step], X.min(axis=0), X.max(axis=0)]) if step > 1 else X
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers too large to be scaled, which `check_size` refuses
        return any(far_cells(column).any() for column in some.T.astype(np.float64))


def with_advice(error: ValueError, preprocessor: Any) -> ValueError:
    """Add advice to an error about an array: missing values and text are prepared if X is a frame.

    Examples
    --------
    >>> print(with_advice(ValueError("Input X contains NaN."), "auto"))
    Input X contains NaN. Give X as a frame (pandas or Polars): text and missing cells are then prepared.
    """
    text = str(error)
    if not (isinstance(preprocessor, str) and preprocessor == "auto"):
        return error
    if ("Input X" in text and "NaN" in text) or "could not convert string" in text:
        first = text.splitlines()[0].rstrip(".")
        return ValueError(f"{first}. Give X as a frame (pandas or Polars): text and missing cells are then prepared.")
    return error


def check_preprocessor(preprocessor: Any) -> None:
    """Raise a ParameterError for an invalid preprocessor; the message lists the valid ones.

    Examples
    --------
    >>> check_preprocessor("standardise")
    >>> check_preprocessor("minmax")
    Traceback (most recent call last):
    abnet.utils.errors.ParameterError: preprocessor must be None, 'standardise', or ...; got 'minmax'.
    """
    if isinstance(preprocessor, str):
        fits = preprocessor == "standardise"
    else:
        whole = not isinstance(preprocessor, type)
        fits = whole and all(callable(getattr(preprocessor, name, None)) for name in ("fit", "transform"))
    if not fits:
        raise ParameterError("{} must be {}; got {!r}.", Parameter("preprocessor"), ACCEPTED, preprocessor)


def hint_at_scales(X: NDArray[Any]) -> None:
    """Warn if the scales of the columns differ a lot: a network divides all inputs by the norm of the row.

    The test uses the ratio of the 90% quantile to the 10% quantile of the deviations of non-constant columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hint_at_scales(rng.normal(size=(50, 4)))
    """
    some = np.asarray(X[:: max(len(X) // 2000, 1)], np.float64)
    deviations = some.std(axis=0)
    deviations = deviations[deviations > 0]
    if len(deviations) < 2:
        return
    low, high = np.quantile(deviations, (0.1, 0.9))
    if high > APART * low:
        warnings.warn(
            f"The inputs have very different scales (standard deviations from {low:.2g} to {high:.2g}), so the "
            "largest dominate: scale them, for instance with preprocessor='standardise'.",
            stacklevel=6,
        )
