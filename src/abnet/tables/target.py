"""Split a table into features and labels; rows without a label are left out."""

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_blank, to_text
from abnet.tables.doubtful_labels import doubtful_labels
from abnet.tables.label_types import typed_labels
from abnet.tables.notes import Note
from abnet.tables.table import Table, as_table
from abnet.tables.table_errors import TableError, UnknownColumnError, listed
from abnet.tables.target_classes import check_classes
from abnet.utils.caller_rows import without_column
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["FeaturesAndLabels", "check_target", "labelled", "labels_as_written", "split_target"]


class FeaturesAndLabels(NamedTuple):
    """Features (a frame of the library that the table came in), labels, and notes on the labels."""

    X: Any
    y: NDArray[Any]
    notes: tuple[Note, ...]


def split_target(frame: Any, column: str, *, missing_label: str = "drop", typed: bool = True) -> FeaturesAndLabels:
    """Split a table into features and labels; rows without a label are left out, with a note that counts them.

    Text becomes numbers or booleans as in `typed_labels`; Parquet keeps its types. White space around text is stripped.
    If one number is written in several ways (``1``, ``1.0``, ``1.00``), a note says so. Empty cells and ``nan``,
    ``null``, ``<NA>``, ``#N/A`` are missing labels; ``NA`` or ``None`` may be a class.

    Parameters
    ----------
    frame : frame of Polars or pandas, or record of columns
    column : str
        Name of the column with the labels.
    missing_label : {"drop", "error"}
        What to do with rows without a label.
    typed : bool
        Whether text becomes numbers or booleans if all labels are such. If rows of this table are held out, their
        labels must not decide on that: `typed_labels` does it afterwards, with the labels of the training rows.

    Returns
    -------
    FeaturesAndLabels
        ``X``, the other columns in their order; ``y``, the labels (n,); ``notes``.

    Raises
    ------
    UnknownColumnError
        If there is no such column.
    NoClassesError
        If there is only one class or more than a hundred, if nearly every row has its own class, or if the target is a
        numeric quantity.
    TableError
        If there is no other column, or if a label is missing and `missing_label` is "error".

    Examples
    --------
    >>> X, y, notes = split_target({"age": ["39", "50", "61", "7"], "rich": ["1", "0", "1.0", ""]}, "rich")
    >>> X, y.tolist(), [note.code for note in notes]
    ({'age': ['39', '50', '61']}, [1, 0, 1], ['missing labels', 'one number'])
    """
    table = as_table(frame)
    check_target(table, column)
    if len(table.columns) == 1:
        raise TableError(f"{column!r} is the only column; the table needs at least one other to predict it from.")
    notes: list[Note] = []
    is_missing = _missing_labels(table, column)
    if is_missing.any():
        _refuse_missing(table, column, is_missing, missing_label)
        notes.append(Note("missing labels", (column,), int(is_missing.sum())))
        frame = _chosen_rows(frame, ~is_missing)
        table = as_table(frame)
    y, label_notes = _labels(table, column, typed)
    return FeaturesAndLabels(without_column(frame, column), y, (*notes, *label_notes))


def labelled(
    frames: "Iterable[polars.DataFrame]", column: str, missing_label: str = "drop"
) -> "Iterator[polars.DataFrame]":
    """Frames without the rows that have no label; with ``missing_label="error"`` the first of them raises an error.

    Examples
    --------
    >>> import polars as pl
    >>> [frame.height for frame in labelled([pl.DataFrame({"y": ["a", "", None, "b"]})], "y")]
    [2]
    """
    n_before = 0
    for frame in frames:
        table = as_table(frame, before=n_before)
        check_target(table, column)
        n_before += frame.height
        is_missing = _missing_labels(table, column)
        if not is_missing.any():
            yield frame
            continue
        if missing_label == "error":
            _refuse_missing(table, column, is_missing, missing_label)
        yield frame.filter(~is_missing)


def check_target(table: Table, column: str) -> None:
    """Raise an UnknownColumnError, with similar names, if the table lacks the column."""
    if column in table.columns:
        return
    hint = ""
    similar = difflib.get_close_matches(column, list(table.columns), n=3)
    if similar:
        looks_equal = _composed(column) in map(_composed, similar)
        if looks_equal:
            names = " or ".join(map(ascii, similar))  # shows characters that look alike
        else:
            names = " or ".join(map(repr, similar))
        hint = f" Did you mean {names}?"
    raise UnknownColumnError(f"no column {column!r} in the table.{hint} Its columns are {listed(table.columns)}.")


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _missing_labels(table: Table, column: str) -> NDArray[np.bool_]:
    """Which rows have no label."""
    return table.cells(column).distinct().lookup(is_blank).astype(np.bool_)


def _refuse_missing(table: Table, column: str, is_missing: NDArray[np.bool_], missing_label: str) -> None:
    """Raise an error if labels must not be missing, or if all are."""
    if missing_label not in ("drop", "error"):
        raise ParameterError("{} must be 'drop' or 'error'; got {!r}.", Parameter("missing_label"), missing_label)
    if missing_label == "error":
        first = table.row(int(is_missing.argmax()))
        raise TableError(
            f"column {column!r}: {number_of(int(is_missing.sum()), 'row')} without a label, the first is {first}; "
            "fill in the labels, or remove these rows."
        )
    if is_missing.all():
        raise TableError(f"column {column!r} has no label in any of {number_of(len(is_missing), 'row')}.")


def _chosen_rows(frame: Any, is_chosen: NDArray[np.bool_]) -> Any:
    """Some rows of a frame or of a record of columns."""
    if isinstance(frame, Mapping):
        return {name: _chosen_cells(values, is_chosen) for name, values in frame.items()}
    if hasattr(frame, "iloc"):
        return frame[is_chosen]
    return frame.filter(is_chosen)


def _chosen_cells(values: Any, is_chosen: NDArray[np.bool_]) -> Any:
    if isinstance(values, np.ndarray):
        return values[is_chosen]
    return [values[row] for row in np.flatnonzero(is_chosen)]


def _labels(table: Table, column: str, typed: bool) -> tuple[NDArray[Any], list[Note]]:
    """The labels of all rows, none of which is missing, and notes on them."""
    distinct = table.cells(column).distinct()
    rows_of_value = np.array(distinct.counts())
    present = np.flatnonzero(rows_of_value)
    as_written = labels_as_written([distinct.values[place] for place in present.tolist()])
    converted, one_number = typed_labels(as_written)
    classes, class_of_value = np.unique(converted, return_inverse=True)
    rows_of_class = np.zeros(len(classes), np.intp)
    np.add.at(rows_of_class, class_of_value, rows_of_value[present])
    check_classes(column, classes, rows_of_class)
    notes = []
    if one_number:
        notes.append(Note("one number", (column,), facts={"alike": one_number}))
    if converted.dtype.kind == "U":
        counts = dict(zip(classes.tolist(), rows_of_class.tolist(), strict=True))
        notes += doubtful_labels(counts, column)
    labels = as_written
    if typed:
        labels = converted
    label_of_value = np.zeros(len(distinct.values), labels.dtype)
    label_of_value[present] = labels
    return label_of_value[distinct.codes], notes


def labels_as_written(values: list[Any]) -> NDArray[Any]:
    """Distinct labels of one plain type as they are; any others as text."""
    types = {type(value) for value in values}
    if types in ({bool}, {int}, {float}):
        return np.array(values)
    return np.array([to_text(value) for value in values])
