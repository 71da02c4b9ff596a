"""The column to predict, taken out of a table and checked."""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from abnet.data.tables.cells import DOUBTFUL, is_blank, is_missing, lookup, missing, to_text
from abnet.data.tables.error import TableError, UnknownColumnError, listed, row_name

__all__ = ["split_target"]


def split_target(frame: pd.DataFrame, column: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels of a table for two classes.

    Labels stay as they are in the file: text from CSV becomes whole numbers or booleans only where these are written
    back as the same text (``1``, ``True``, but neither ``01`` nor ``true``); Parquet keeps its types. Blanks around
    text are dropped. Empty cells and ``nan``, ``null``, ``<NA>``, ``#N/A`` are missing labels; ``NA`` or ``None`` may
    be a class.

    Parameters
    ----------
    frame : DataFrame
    column : str
        Name of the column with the labels.

    Returns
    -------
    X : DataFrame
        The other columns, in their order.
    y : array (n,)

    Raises
    ------
    UnknownColumnError
        If there is no such column.
    TableError
        If labels are missing, the classes are not exactly two, or another column has no value
        at all.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": ["39", "50"], "income": ["high", "low"]})
    >>> X, y = split_target(frame, "income")
    >>> list(X), y.tolist()
    (['age'], ['high', 'low'])
    """
    if column not in frame.columns:
        close = difflib.get_close_matches(column, [str(name) for name in frame.columns], n=3)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise UnknownColumnError(f"no column {column!r} in the table.{hint} Its columns are {listed(frame.columns)}.")
    X = frame.drop(columns=column)
    _check_features(X, column)
    return X, _labels(frame[column])


def _check_features(X: pd.DataFrame, target: str) -> None:
    if X.shape[1] == 0:
        raise TableError(f"{target!r} is the only column; the table needs at least one other to predict it from.")
    for name, column in X.items():
        if is_missing(column.iloc[0]) and missing(column).all():  # the first cell spares most columns the work
            raise TableError(f"column {str(name)!r} has no value in any of {len(X)} rows; remove it from the table.")


def _labels(column: pd.Series) -> np.ndarray:
    blank = lookup(column, is_blank)
    if blank.any():
        first = row_name(column.index, int(blank.argmax()))
        raise TableError(
            f"{int(blank.sum())} labels are missing in column {column.name!r}, the first in {first}; "
            "fill them in or remove these rows."
        )
    values = _converted(column.tolist())
    classes, counts = np.unique(values, return_counts=True)
    if len(classes) != 2:
        raise TableError(_not_two(str(column.name), classes.tolist(), counts.tolist()))
    return values


def _converted(values: list[Any]) -> np.ndarray:
    """Labels of one plain type as they are; text as numbers or booleans where these are written as the same text."""
    if {type(value) for value in values} in ({bool}, {int}, {float}):
        return np.array(values)
    texts = [to_text(value) for value in values]
    distinct = set(texts)
    if distinct <= {"True", "False"}:
        return np.array([text == "True" for text in texts])
    if all(_is_plain_integer(text) for text in distinct):
        return np.array([int(text) for text in texts], np.int64)
    return np.array(texts)


def _is_plain_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18 and str(int(text)) == text


def _not_two(column: str, classes: Sequence[Any], counts: Sequence[int]) -> str:
    order = np.argsort(counts, kind="stable")[::-1][:5]
    shown = ", ".join(f"{classes[i]!r} ({counts[i]} rows)" for i in order)
    more = f" and {len(classes) - 5} more" if len(classes) > 5 else ""
    doubtful = [text for text in map(str, classes) if text.lower() in DOUBTFUL]
    hint = (
        f"; if {doubtful[0]!r} stands for a missing label, remove these rows" if doubtful and len(classes) > 2 else ""
    )
    number = "only one class" if len(classes) == 1 else f"{len(classes)} classes"
    return f"column {column!r} has {number}, but exactly two are needed: {shown}{more}{hint}."
