"""Test whether a function works row by row: its result for a row must not depend on the other rows of the batch.

A certificate is about single rows. If a function depends on the whole batch, like a scaler that is refitted on every
batch, then the deployed rows differ from the certified ones, and the certificate is false.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.utils.caller_rows import n_rows_of, take_rows
from abnet.utils.coded_rows import dense

__all__ = ["check_row_by_row", "refit_problem"]

# Number of rows that are transformed alone.
_ROWS = 20
# Maximum number of rows that are transformed together: a million rows would take as long as the fit.
_BATCH = 500
# The same sum in another order differs by a few units in the last place of float32.
_TOLERANCE = 1e-5


def check_row_by_row(transform: Callable[[Any], Any], X: Any, *, rows: int = _ROWS) -> str | None:
    """Compare ``transform(X)[i]`` with ``transform(X[[i]])`` on about 20 rows; return the difference as text, or None.

    Parameters
    ----------
    transform : callable
        Maps n rows to n rows of numbers, or to n labels.
    X : array, sparse matrix, frame or list
    rows : int
        Number of rows to test, evenly spaced.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> check_row_by_row(np.log1p, X)
    >>> check_row_by_row(lambda X: X - X.mean(axis=0), X)
    'row 0 has another result alone than with the other rows'
    """
    batch = _spread(n_rows_of(X), _BATCH)
    together = _plain(transform(take_rows(X, batch)))
    if len(together) != len(batch):
        return f"{len(batch)} rows give {len(together)} results"
    for place in _spread(len(batch), rows):
        row = batch[place]
        try:
            alone = _plain(transform(take_rows(X, [row])))
        except Exception as error:  # whatever the caller's code raises
            return f"row {row} alone raises {type(error).__name__}: {str(error)[:200]}"
        if len(alone) != 1 or not _same(alone[0], together[place]):
            return f"row {row} has another result alone than with the other rows"
    return None


def _spread(n: int, most: int) -> list[int]:
    """At most `most` evenly spaced integers below n."""
    places = np.linspace(0, n - 1, min(n, most)).astype(np.intp)
    return np.unique(places).tolist()


def refit_problem(transformer: Any) -> str | None:
    """Return why a transformer cannot be cloned and refitted, or None if it can.

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.preprocessing import StandardScaler
    >>> refit_problem(StandardScaler())
    >>> refit_problem(FrozenEstimator(StandardScaler().fit([[0.0], [1.0]])))
    'FrozenEstimator was fitted before, on unknown rows, and cannot be refitted'
    """
    from sklearn.base import clone

    parts = [transformer]
    if hasattr(transformer, "get_params"):
        parameters = transformer.get_params(deep=True).values()
        parts += [value for value in parameters if hasattr(value, "fit") and not isinstance(value, type)]
    for part in parts:
        name = type(part).__name__
        try:
            fresh = clone(part)
        except Exception as error:  # whatever the caller's code raises
            return f"{name} cannot be cloned ({type(error).__name__}: {str(error)[:200]})"
        if fresh is part:
            return f"{name} was fitted before, on unknown rows, and cannot be refitted"
    return None


def _plain(rows: Any) -> NDArray[Any]:
    """Rows of numbers or labels as an array."""
    if isinstance(rows, list | tuple) and any(value is None for value in rows):
        # With None as a last element NumPy makes a vector of objects, even of tuples.
        return np.array([*rows, None], dtype=object)[:-1]
    if hasattr(rows, "to_numpy"):
        return np.asarray(rows.to_numpy())
    return dense(rows)


def _same(one: Any, other: Any) -> bool:
    a = np.asarray(one)
    b = np.asarray(other)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == b.dtype.kind == "f":
        return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))
    return a.tolist() == b.tolist()
