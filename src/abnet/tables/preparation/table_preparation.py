"""`TablePreparation`: a scikit-learn transformer that fits the preparation of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from abnet.tables.columns.column_options import COLUMN_PARAMETERS, ColumnOptions
from abnet.tables.leaking_columns import leaking_columns
from abnet.tables.notes import Note, note_lines
from abnet.tables.preparation.column_kinds import choose_all
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.table import as_table
from abnet.tables.table_errors import TableError

__all__ = ["TablePreparation"]

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
        self.map_ = TableMap(columns, (*notes, *leaking_columns(table, columns, y)))
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
        named = {}
        for parameter in COLUMN_PARAMETERS:
            columns = getattr(self, parameter)
            if isinstance(columns, str):
                columns = [columns]
            named[parameter] = list(columns)
        return named

    def column_options(self) -> ColumnOptions:
        """The parameters, checked."""
        if type(self.max_categories) is not int or self.max_categories < 2:
            raise ValueError(f"max_categories must be a whole number of 2 or more, got {self.max_categories!r}.")
        if not isinstance(self.decimal, str) or self.decimal not in _DECIMALS:
            raise ValueError(f"decimal must be one of {', '.join(map(repr, _DECIMALS))}; got {self.decimal!r}.")
        columns = {parameter: frozenset(names) for parameter, names in self.named_columns().items()}
        return ColumnOptions(self.max_categories, _DECIMALS[self.decimal], **columns)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features (n, d) in float32; see `TableMap.transform`."""
        check_is_fitted(self)
        return self.map_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, in order."""
        check_is_fitted(self)
        return np.array(self.map_.feature_names, object)
