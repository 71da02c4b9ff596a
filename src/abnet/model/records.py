"""Rows as dicts, as services get them: one dict is a row, a list of dicts are rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["as_columns"]


def as_columns(X: Any, names: Sequence[str] | None, *, by_name: bool) -> Any:
    """Rows that are dicts as a record of columns, or as an array in the order of `names`; anything else as it is.

    Parameters
    ----------
    X : anything
        A dict whose values are no lists is one row.
    names : sequence of str or None
        Columns that the model was trained on, in order.
    by_name : bool
        Whether the model's preparation finds columns by their names.

    Examples
    --------
    >>> as_columns([{"age": 31, "city": "Oslo"}, {"age": None, "city": "Lima"}], None, by_name=True)
    {'age': [31, None], 'city': ['Oslo', 'Lima']}
    """
    if isinstance(X, Mapping) and X and not any(_is_column(value) for value in X.values()):
        X = [X]
    if not isinstance(X, list | tuple) or not X or not all(isinstance(row, Mapping) for row in X):
        return X
    wanted = list(dict.fromkeys(str(key) for row in X for key in row)) if by_name else list(names or ())
    if not wanted:
        raise ValueError(
            "rows are dicts, but the model was trained on columns without names: give an array of numbers."
        )
    for place, row in enumerate(X):
        lacking = [name for name in wanted if name not in row]
        if lacking:
            raise ValueError(f"row {place} lacks {lacking[0]!r}: give None (null) where a value is missing.")
    columns = {name: [row[name] for row in X] for name in wanted}
    if by_name:
        return columns
    return np.array([[_number(value, name) for value in column] for name, column in columns.items()], np.float64).T


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _number(value: Any, name: str) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} takes numbers; got {str(value)[:60]!r}.") from error
