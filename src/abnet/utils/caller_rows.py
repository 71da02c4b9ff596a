"""Rows in any supported form: an array, a sparse matrix, a frame of pandas or Polars, a dict of columns, or a list."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["column_names", "is_frame", "n_rows_of", "take_column", "take_rows", "with_value", "without_column"]


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas or Polars."""
    return hasattr(X, "columns")


def n_rows_of(X: Any) -> int:
    """Number of rows.

    Examples
    --------
    >>> n_rows_of(np.zeros((3, 2))), n_rows_of(["a", "b"])
    (3, 2)
    """
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X)


def take_rows(X: Any, rows: ArrayLike | None) -> Any:
    """Some rows by their indices, in the same form; all rows for None.

    Examples
    --------
    >>> take_rows(np.eye(3), [2]), take_rows(["a", "b"], [1])
    (array([[0., 0., 1.]]), ['b'])
    """
    if rows is None:
        return X
    places = np.asarray(rows, np.intp)
    if hasattr(X, "part"):  # a table of `abnet.tables`
        return X.part(places)
    if hasattr(X, "iloc"):  # of pandas
        return X.iloc[places]
    if hasattr(X, "rechunk"):  # of Polars; taking rows from many chunks is several times slower
        return X.rechunk()[places]
    if hasattr(X, "tocsr"):  # a sparse matrix
        return X.tocsr()[places]
    if hasattr(X, "shape"):
        return X[places]
    return [X[place] for place in places.tolist()]


def column_names(X: Any) -> list[Any]:
    """Names of the columns; empty if the columns have no names."""
    if isinstance(X, Mapping):
        return list(X)
    if is_frame(X):
        return list(X.columns)
    return []


def take_column(X: Any, column: Any) -> Any:
    """A column of a frame by its name; anything but a string is returned unchanged.

    Examples
    --------
    >>> take_column({"site": ["a", "b"]}, "site"), take_column(np.eye(2), [1, 2])
    (array(['a', 'b'], dtype='<U1'), [1, 2])
    """
    if not isinstance(column, str):
        return column
    if column not in column_names(X):
        raise ValueError(f"there is no column {column!r} in X; a name needs a frame that has it.")
    return np.asarray(X[column])


def without_column(X: Any, name: str) -> Any:
    """All columns but one.

    Examples
    --------
    >>> without_column({"age": [40], "site": ["a"]}, "site")
    {'age': [40]}
    """
    kept = [column for column in column_names(X) if str(column) != name]
    if isinstance(X, Mapping):
        return {column: X[column] for column in kept}
    return X[kept]


def with_value(X: Any, column: Any, value: Any) -> Any:
    """The rows with the same value in a column, as the column's type.

    Parameters
    ----------
    X : frame, dict of columns, or array
    column : str or int
        Name, or for an array the index of the column.
    value : Any

    Examples
    --------
    >>> with_value({"age": [40, 50], "sex": ["f", "m"]}, "sex", "f")
    {'age': [40, 50], 'sex': ['f', 'f']}
    >>> with_value(np.eye(2), 0, 3)
    array([[3., 0.],
           [3., 1.]])
    """
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, column] = value
        return changed
    if column not in column_names(X):
        raise ValueError(f"there is no column {column!r} in X; a name needs a frame that has it.")
    if isinstance(X, Mapping):
        return {**X, column: [value] * len(X[column])}
    if hasattr(X, "iloc"):  # of pandas
        own = X[column]
        return X.assign(**{column: type(own)([value] * len(X), index=X.index).astype(own.dtype)})
    own = X[column]
    return X.with_columns(type(own)(column, [value] * X.height).cast(own.dtype))
