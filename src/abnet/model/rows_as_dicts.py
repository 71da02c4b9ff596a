"""Rows as dicts, as in web services: one dict is a row, a list of dicts are rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["as_columns"]


def as_columns(X: Any, names: Sequence[str], *, by_name: bool) -> Any:
    """Convert rows that are dicts to a dict of columns, or to an array; any other X is returned unchanged.

    Parameters
    ----------
    X : anything
        A dict whose values are not lists is one row; a list of dicts are rows. The order of the names does not matter,
        and names that the model does not use are ignored.
    names : sequence of str
        Columns that the model uses, in order; empty if they are unknown.
    by_name : bool
        Whether the model's preparation finds columns by their names.

    Examples
    --------
    >>> as_columns([{"age": 31, "city": "Oslo"}, {"city": "Lima", "age": None, "id": 7}], ["age", "city"], by_name=True)
    {'age': [31, None], 'city': ['Oslo', 'Lima']}
    """
    if hasattr(X, "tocsr"):  # a sparse matrix, some of which are dicts
        return X
    if isinstance(X, Mapping) and X and not any(_is_column(value) for value in X.values()):
        X = [X]
    if isinstance(X, list | tuple) and not X:
        raise ValueError("there are no rows: give at least one.")
    if isinstance(X, list | tuple) and any(isinstance(row, Mapping) for row in X):
        X = _columns(X, names, by_name=by_name)
    elif not isinstance(X, Mapping) or by_name:
        return X
    if by_name:
        return X
    if not names:
        raise ValueError(
            "rows have names, but the model was trained on columns without names: give an array of numbers."
        )
    lacking = [name for name in names if name not in X]
    if lacking:
        raise ValueError(f"X lacks the column {lacking[0]!r} that the model was trained on.")
    return np.array([[_number(value, name) for value in X[name]] for name in names], np.float64).T


def _columns(rows: Sequence[Any], names: Sequence[str], *, by_name: bool) -> dict[str, list[Any]]:
    """Columns of rows that are dicts; a row that lacks one is an error, and so is a cell that holds several values."""
    wanted = list(names)
    if not wanted and by_name:
        wanted = [str(key) for row in rows if isinstance(row, Mapping) for key in row]
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {place} is not a dict, but others are: {str(row)[:60]!r}.")
        for name in wanted:
            if name not in row:
                raise ValueError(f"row {place} lacks {name!r}: give None (null) where a value is missing.")
            if _is_column(row[name]):
                raise ValueError(f"row {place}, column {name!r}: a cell holds one value; got {str(row[name])[:60]!r}.")
    return {name: [row[name] for row in rows] for name in wanted}


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _number(value: Any, name: str) -> float:
    if value is None:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} takes numbers; got {str(value)[:60]!r}.") from error
