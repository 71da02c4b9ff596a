"""Thermometer codes, prepared columns with codes beside them, and preparations to and from plain values.

A neuron sees a weighted sum; a threshold on one column, which trees take for granted, is hard for it. So every feature
with several values comes with its answers to "is it above?", beside the number itself. Such codes go around any
preparation, and model files hold every preparation as plain values, never as a pickle.
"""

import sys
from collections.abc import Callable
from functools import lru_cache, reduce
from itertools import pairwise
from math import isfinite
from operator import or_
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.features import CodedRows
from abnet.threads import MANY, mapped, threads_for

__all__ = [
    "CodedMap",
    "StoredPreparation",
    "ThermometerMap",
    "cuts",
    "preparation_from_dict",
    "preparation_to_dict",
    "stored_form",
    "thresholds_of",
]


class ThermometerMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="thermometer"):
    """Signs ``sgn(x - t)`` for the thresholds t of every column, as `ThermometerCodes` finds them.

    Examples
    --------
    >>> ThermometerMap(((1.5, 3.5), (0.5,))).transform([[3.0, 1.0]])
    array([[ 1., -1.,  1.]], dtype=float32)
    """

    thresholds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        _check_thresholds(self.thresholds)
        if not any(self.thresholds):
            raise ValueError("thermometer codes need a threshold for at least one column")

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.thresholds)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(map(len, self.thresholds))

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column; what is not finite is refused by its place."""
        rows = np.asarray(X, np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.thresholds):
            raise ValueError(f"expected {len(self.thresholds)} features, got an array of shape {rows.shape}.")
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"Input contains NaN or infinity in row {row}, column {column}: fill in or remove it first."
            )
        pairs = zip(rows.T, self.thresholds, strict=True)
        return np.hstack([np.where(column[:, None] >= t, np.float32(1), np.float32(-1)) for column, t in pairs])

    @classmethod
    def from_codes(cls, codes: Any) -> "ThermometerMap":
        """From fitted `ThermometerCodes`."""
        return cls(tuple(tuple(t.tolist()) for t in codes.thresholds_))


def _check_thresholds(found: tuple[tuple[float, ...], ...]) -> None:
    """Refuse thresholds that are not finite, or not increasing in every column."""
    if not all(isfinite(t) for one in found for t in one) or any(a >= b for one in found for a, b in pairwise(one)):
        raise ValueError("thresholds must be finite, and increasing in every column")


MOST_THRESHOLDS = 32
"""Thresholds of a feature, at the most."""


def thresholds_of(X: NDArray[Any], most: int = MOST_THRESHOLDS) -> tuple[tuple[float, ...], ...]:
    """Thresholds between the distinct values of every feature, by rank; none for one with fewer than three values.

    The sign of a 0-1 feature would only repeat it. Ranks of distinct values, not of rows: where nine rows in ten hold
    the same number, all quantiles of rows coincide.

    Examples
    --------
    >>> [np.round(t, 3).tolist() for t in thresholds_of(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 5.0]]))]
    [[], [1.455, 3.455]]
    """
    rows = np.asarray(X)
    found: list[NDArray[np.float64]] = []
    for first in range(0, rows.shape[1], GROUP):
        columns = in_columns(rows[:, first : first + GROUP])
        found += mapped(lambda column: cuts(column, most), columns, threads_for(len(rows)))
    return tuple(tuple(t.tolist()) if len(t) > 1 else () for t in found)


GROUP = 32
"""Columns that are put in one piece each at a time: all of them would take as much memory again as the rows."""


def in_columns(rows: NDArray[Any]) -> NDArray[Any]:
    """The columns of rows, each in one piece; column by column, all rows would come from memory once for each.

    Examples
    --------
    >>> in_columns(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    out = np.empty(rows.shape[::-1], rows.dtype)

    def turn(start: int) -> None:
        out[:, start : start + BLOCK] = rows[start : start + BLOCK].T

    mapped(turn, range(0, len(rows), BLOCK), threads_for(len(rows)))
    return out


def cuts(column: NDArray[Any], most: int) -> NDArray[np.float64]:
    """Thresholds between neighbouring distinct values, at most so many, evenly spaced by rank.

    A threshold t lies near the middle, but where no number with few more decimals than those of the column lies, so
    that rounding takes none across it; and where float32 rounds up from, so that ``x >= t`` says the same of every x
    and of x in float32. Values that are one in float32 are one here too, unless all are.

    Parameters
    ----------
    column : array (n,)
    most : int

    Examples
    --------
    >>> cuts(np.array([0.1, 0.2, 0.3, 0.5]), 32).round(6)
    array([0.145455, 0.245455, 0.354545])
    """
    single = _distinct(column.astype(np.float32)) if _fits_float32(column) else column[:0]
    values = (single if len(single) > 1 else _distinct(column)).astype(np.float64)
    below, above = values[:-1], values[1:]
    steps = _steps(values)
    # In grid steps from below: 5/11 of a step after a grid point, and 5/11 is as far as can be from all decimals.
    ahead = steps / 2 - np.where(steps % 2, 1 / 22, 5 / 11)
    share = ahead / steps
    between = below * (1 - share) + above * share  # a difference of large values may overflow
    if len(between) > most:
        ranks = np.round(np.linspace(0, len(between) - 1, most)) if most > 1 else np.array([len(between) // 2])
        below, above, between = (array[ranks.astype(np.intp)] for array in (below, above, between))
    if len(single) > 1:
        return _round_up_from(below, between)
    return np.where(between > below, between, above)  # between neighbouring floats there is nothing


def _fits_float32(column: NDArray[Any]) -> bool:
    return bool(np.abs(column).max(initial=0.0) <= np.finfo(np.float32).max)


_FINEST = 2.0**-16
"""Step of a grid, as a share of the largest value, below which float32 does not show it."""
_PARTS = 10
_OFF = 0.1  # of a step, for numbers on a grid


def _steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many steps of the grid on which all values lie are between neighbours; 1 everywhere if there is none.

    Examples
    --------
    >>> _steps(np.array([0.1, 0.3, 0.6, 0.8])), _steps(np.sqrt(np.arange(9)))
    (array([2., 3., 2.]), array([1., 1., 1., 1., 1., 1., 1., 1.]))
    """
    gaps = values[1:] / 2 - values[:-1] / 2  # halves: a difference of large values may overflow
    least = gaps.min(initial=np.inf)
    near = gaps < 10 * least
    for parts in range(1, _PARTS + 1):
        step = least / parts
        if not len(gaps) or step < _FINEST * np.abs(values).max():
            break
        for chosen in (near, slice(None)):  # near ones tell the step well enough to count the others
            step = gaps[chosen].sum() / np.rint(gaps[chosen] / step).sum()
        counts = np.rint(gaps / step)
        if np.abs(gaps / step - counts).max() <= _OFF and counts.min() >= 1:
            return counts
    return np.ones(len(gaps))


def _round_up_from(below: NDArray[np.float64], between: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least numbers that float32 rounds to what it makes of `between`, or to the next one above `below`."""
    infinity = np.float32(np.inf)
    up = np.maximum(between.astype(np.float32), np.nextafter(below.astype(np.float32), infinity))
    half = (up.astype(np.float64) + np.nextafter(up, -infinity).astype(np.float64)) / 2
    return np.where(half.astype(np.float32) == up, half, np.nextafter(half, np.inf))


BLOCK = 8192
"""Rows whose codes are counted at a time: what they are compared with should stay in the cache."""


@lru_cache(maxsize=1024)
def _least_reaching(thresholds: tuple[float, ...]) -> NDArray[np.float32]:
    """The least float32 that reaches each threshold: a float32 is below the one where it is below the other."""
    exact = np.array(thresholds, np.float64)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
        return np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers of a column, increasing; by Polars where it is at work, which sorts them alone."""
    polars = sys.modules.get("polars")
    if polars is None or len(column) < MANY:
        return np.unique(column)
    return np.asarray(polars.Series(column).unique().sort().to_numpy())


class CodedMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="coded"):
    """The features of another map, rounded to float32, then the signs ``sgn(x_j - t)`` of their thresholds.

    Attributes
    ----------
    base : stored preparation
    thresholds : tuple of tuples of float
        For each feature of the base, increasing, often none.

    Examples
    --------
    >>> from abnet.preparation import StandardMap
    >>> CodedMap(StandardMap((1.0,), (2.0,)), ((-0.5, 0.5),)).transform([[3.0]])
    array([[1., 1., 1.]], dtype=float32)
    """

    base: Any
    thresholds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if isinstance(self.base, CodedMap):
            raise ValueError("codes of codes make no sense")
        if len(self.thresholds) != self.base.n_features_out:
            found, features = len(self.thresholds), self.base.n_features_out
            raise ValueError(f"{found} lists of thresholds do not fit {features} features")
        _check_thresholds(self.thresholds)

    @staticmethod
    def of(base: Any, X: NDArray[Any]) -> "CodedMap":
        """The map with thresholds that suit rows X prepared by the base."""
        return CodedMap(base, thresholds_of(np.asarray(X, np.float32)))

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return int(self.base.n_features_in)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return int(self.base.n_features_out) + sum(map(len, self.thresholds))

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features and codes of every row."""
        return self.code(self.base.transform(X))

    def code(self, prepared: Any) -> NDArray[np.float32]:
        """Features and codes of rows that the base has prepared."""
        return self.rows(prepared).toarray()

    def coded_rows(self, X: Any) -> CodedRows:
        """`transform`, with codes that are not written out."""
        return self.rows(self.base.transform(X))

    def rows(self, prepared: Any) -> CodedRows:
        """`code`, with codes that are not written out."""
        dense = prepared.toarray() if hasattr(prepared, "toarray") else prepared
        features = np.asarray(dense, np.float32)
        counts = tuple(map(len, self.thresholds))
        coded = [place for place, number in enumerate(counts) if number]
        least = [_least_reaching(self.thresholds[place])[:, None] for place in coded]
        reached = np.empty((len(coded), len(features)), np.uint8 if max(counts, default=0) < 256 else np.uint16)

        def count(start: int) -> None:
            # How many thresholds a value reaches tells all its signs at once. To compare it with each is quicker than
            # to search among them: no step waits for another. A missing number reaches all, as it is below none.
            block = np.ascontiguousarray(features[start : start + BLOCK].T)
            for out, place, values in zip(reached, coded, least, strict=True):
                below = (block[place] < values).sum(axis=0, dtype=reached.dtype)
                np.subtract(len(values), below, out=out[start : start + BLOCK], dtype=reached.dtype)

        mapped(count, range(0, len(features), BLOCK), threads_for(len(features)))
        return CodedRows(features, reached, counts)

    def __getattr__(self, name: str) -> Any:
        # What else the base can do (columns by name, unseen categories) is about its columns, not about the codes.
        if name.startswith("__") or name in ("base", "thresholds"):
            raise AttributeError(name)
        if name not in ("transform_reporting", "rows_reporting"):
            return getattr(self.base, name)
        found, code = self.base.transform_reporting, self.code if name == "transform_reporting" else self.rows

        def reporting(X: Any, **options: Any) -> tuple[Any, Any]:
            prepared, reports = found(X, **options)
            return code(prepared), reports

        return reporting


class StoredPreparation(Protocol):
    """A fitted preparation of plain values: a map of a table, a scaling, codes, or both side by side."""

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""

    def transform(self, X: Any) -> Any:
        """Features of every row."""


def stored_form(transformer: Any) -> StoredPreparation:
    """The plain form of a fitted transformer: the same map, bit for bit, without scikit-learn.

    Parameters
    ----------
    transformer : TablePreparation, StandardScaler, MinMaxScaler, ThermometerCodes, or a stored form (returned as it is)

    Raises
    ------
    ValueError
        For any other type, since only plain numbers and text go into a model file, never a pickle.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> stored_form(StandardScaler().fit([[0.0], [2.0]]))
    StandardMap(mean=(1.0,), scale=(1.0,))
    """
    from abnet.preparation.scalers import MinMaxMap, StandardMap
    from abnet.preparation.table_map import TableMap

    if isinstance(transformer, (TableMap, StandardMap, MinMaxMap, ThermometerMap, CodedMap)):
        return transformer
    # After that: what a file holds is exported without scikit-learn.
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.utils.validation import check_is_fitted

    from abnet.preparation.transformers import PlainNumbers, TablePreparation, ThermometerCodes

    plain: dict[type, Callable[[Any], StoredPreparation]] = {
        TablePreparation: lambda fitted: fitted.map_,
        StandardScaler: StandardMap.from_scaler,
        MinMaxScaler: MinMaxMap.from_scaler,
        ThermometerCodes: ThermometerMap.from_codes,
        PlainNumbers: lambda fitted: fitted.map_,
    }
    if type(transformer) not in plain:  # a subclass may compute otherwise
        raise ValueError(
            f"a preprocessor of type {type(transformer).__name__} cannot be stored in a model file; "
            f"supported are {', '.join(kind.__name__ for kind in plain)}."
        )
    check_is_fitted(transformer)
    return plain[type(transformer)](transformer)


def preparation_to_dict(transformer: Any) -> dict[str, Any]:
    """Plain values of a fitted transformer, ready for JSON; raises as `stored_form` does.

    Examples
    --------
    >>> preparation_to_dict(ThermometerMap(((0.5,),)))
    {'kind': 'thermometer', 'thresholds': [[0.5]]}
    """
    plain: dict[str, Any] = _lists(msgspec.to_builtins(stored_form(transformer)))
    return plain


def _lists(value: Any) -> Any:
    """Tuples as the lists that JSON has."""
    if isinstance(value, dict):
        return {key: _lists(part) for key, part in value.items()}
    return [_lists(part) for part in value] if isinstance(value, list | tuple) else value


def preparation_from_dict(record: Any) -> StoredPreparation:
    """The preparation stored in a record by `preparation_to_dict`.

    Raises
    ------
    ValueError
        If the record is not exactly as it would have been written: unknown kind, missing or further keys, wrong types,
        numbers that are not finite.
    """
    try:
        found = _opened(record)
        if preparation_to_dict(found) != record:
            raise ValueError("keys are missing that a preparation is written with")
        return found
    except ValueError as error:  # as msgspec's are
        raise ValueError(f"stored preparation: {error}.") from error


def _opened(record: Any) -> StoredPreparation:
    from abnet.preparation.columns import KINDS
    from abnet.preparation.scalers import MinMaxMap, StandardMap
    from abnet.preparation.table_map import TableMap

    maps: dict[Any, Any] = {
        "table": TableMap, "standard": StandardMap, "minmax": MinMaxMap, "thermometer": ThermometerMap,
        "coded": CodedMap,
    }  # fmt: skip
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in maps:
        raise ValueError(f"unknown kind {str(kind)[:60]!r}; this release reads {', '.join(maps)}")
    if kind == "coded" and "base" in record:
        record = {**record, "base": _opened(record["base"])}
    if kind == "table" and "columns" in record:
        kinds: Any = reduce(or_, KINDS.values())  # they are registered: no type lists them all
        record = {**record, "columns": msgspec.convert(record["columns"], tuple[kinds, ...])}
    found: StoredPreparation = msgspec.convert(record, maps[kind])
    return found
