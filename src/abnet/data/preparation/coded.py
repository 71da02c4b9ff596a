"""Prepared columns and thermometer codes side by side.

A neuron sees a weighted sum; a threshold on one column, which trees take for granted, is hard for it. So every feature
with several values comes with its answers to "is it above?", beside the number itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.thermometer_map import rising_thresholds
from abnet.records import take, text

__all__ = ["CodedMap", "thresholds_of"]

MOST_THRESHOLDS = 32
"""Thresholds of a feature, at the most."""


def thresholds_of(X: NDArray[Any], most: int = MOST_THRESHOLDS) -> tuple[tuple[float, ...], ...]:
    """Thresholds between the distinct values of every feature, by rank; none for one with fewer than three values.

    The sign of a 0-1 feature would only repeat it. Ranks of distinct values, not of rows: where nine rows in ten hold
    the same number, all quantiles of rows coincide.

    Examples
    --------
    >>> thresholds_of(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 5.0]]))
    ((), (1.5, 3.5))
    """
    found = (midpoints(column, most) for column in np.asarray(X).T)
    return tuple(tuple(t.tolist()) if len(t) > 1 else () for t in found)


def midpoints(column: NDArray[Any], most: int) -> NDArray[np.float64]:
    """Values halfway between neighbouring distinct ones, at most so many, evenly spaced by rank."""
    values = np.unique(column).astype(np.float64)
    below, above = values[:-1], values[1:]
    middle = below / 2 + above / 2  # halves first: a sum of large values may overflow
    between = np.where(middle > below, middle, above)  # between neighbouring floats there is nothing
    if len(between) <= most:
        return between
    if most == 1:
        return between[len(between) // 2][None]
    return between[np.round(np.linspace(0, len(between) - 1, most)).astype(np.intp)]


@dataclass(frozen=True)
class CodedMap:
    """The features of another map, rounded to float32, then the signs ``sgn(x_j - t)`` of their thresholds.

    Attributes
    ----------
    base : stored preparation
    thresholds : tuple of tuples of float
        For each feature of the base, increasing, often none.

    Examples
    --------
    >>> from abnet.data.preparation import StandardMap
    >>> CodedMap(StandardMap((1.0,), (2.0,)), ((-0.5, 0.5),)).transform([[3.0]])
    array([[1., 1., 1.]], dtype=float32)
    """

    base: Any
    thresholds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if len(self.thresholds) != self.base.n_features_out:
            found, features = len(self.thresholds), self.base.n_features_out
            raise ValueError(f"stored preparation: {found} lists of thresholds do not fit {features} features.")

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
        dense = prepared.toarray() if hasattr(prepared, "toarray") else prepared
        rows = np.asarray(dense, np.float32)
        out = np.empty((len(rows), self.n_features_out), np.float32)
        at = rows.shape[1]
        out[:, :at] = rows
        for column, thresholds in zip(rows.T, self.thresholds, strict=True):
            if thresholds:
                # How many thresholds a value reaches tells all its signs at once.
                reached = np.searchsorted(np.array(thresholds), column.astype(np.float64), side="right")
                out[:, at : at + len(thresholds)] = _STEPS[len(thresholds)][reached]
                # A missing number reaches every threshold in that order; it must not look like one.
                out[np.isnan(column), at] = np.nan
                at += len(thresholds)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        return {"kind": "coded", "base": self.base.to_dict(), "thresholds": [list(t) for t in self.thresholds]}

    @classmethod
    def from_dict(cls, record: Any) -> "CodedMap":
        """The map stored in a record, after checking it."""
        from abnet.data.preparation.stored import preparation_from_dict

        fields = take(
            "stored preparation: coded", record, kind=text, base=lambda name, value: value, thresholds=rising_thresholds
        )
        if isinstance(fields["base"], dict) and fields["base"].get("kind") == "coded":
            raise ValueError("stored preparation: codes of codes make no sense.")
        return cls(preparation_from_dict(fields["base"]), fields["thresholds"])

    def __getattr__(self, name: str) -> Any:
        # What else the base can do (columns by name, unseen categories) is about its columns, not about the codes.
        if name.startswith("__") or name in ("base", "thresholds"):
            raise AttributeError(name)
        found = getattr(self.base, name)
        if name != "transform_reporting":
            return found

        def transform_reporting(X: Any, **options: Any) -> tuple[NDArray[np.float32], Any]:
            prepared, reports = found(X, **options)
            return self.code(prepared), reports

        return transform_reporting


_STEPS = [np.where(np.arange(count) < np.arange(count + 1)[:, None], 1, -1).astype(np.float32) for count in range(256)]
"""Row r of the n-th table: r signs +1, then n - r signs -1."""
