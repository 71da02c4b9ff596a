"""The rows of a fit in the order of use, their classes as codes, and the random numbers that nothing else uses."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.errors import Parameter, ParameterError

__all__ = ["Streams", "TrainingRows", "signs_of", "with_unknown", "without_groups"]


class Streams(NamedTuple):
    """Generators of a fit: split, start, training, the predictor's draws, the certificates'. None tells of another."""

    split: np.random.Generator
    start: np.random.Generator
    train: np.random.Generator
    deploy: np.random.Generator
    paths: np.random.Generator
    certify: np.random.Generator
    single: np.random.Generator


class TrainingRows(NamedTuple):
    """Prepared rows in the order of use: `n_other` rows that are kept from the bound, then those of the bound."""

    X: NDArray[np.float32]
    codes: NDArray[np.intp]
    """Classes, 0 and 1; 2 where a bound row's label is neither, and every answer to it an error."""
    weights: NDArray[np.float64] | None
    n_other: int
    preparation: Any
    untouched: bool
    """Whether nothing before the network was fitted on the bound rows."""
    groups: NDArray[Any] | None = None
    """Groups of the bound rows, if they come in groups."""

    @property
    def signs(self) -> NDArray[np.float64]:
        """Targets of training; what is learned of a label that is not known does not matter."""
        return signs_of(np.minimum(self.codes, 1))

    @property
    def n_draws(self) -> int:
        """Independent draws among the bound rows: rows, or groups of rows."""
        return len(self.codes) - self.n_other if self.groups is None else len(np.unique(self.groups))

    def of_bound(self) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Rows and classes of the bound."""
        return self.X[self.n_other :], self.codes[self.n_other :]


def signs_of(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """-1 and +1 for the classes 0 and 1, and +3 for a label that is neither.

    Examples
    --------
    >>> signs_of(np.array([0, 1, 2]))
    array([-1.,  1.,  3.])
    """
    return np.asarray(2.0 * codes - 1)


def with_unknown(codes: NDArray[np.intp], n_classes: int) -> tuple[NDArray[np.intp], int]:
    """Codes with K in the place of -1, for labels that are not known, and the number of codes.

    Examples
    --------
    >>> with_unknown(np.array([0, -1, 1]), 2)
    (array([0, 2, 1]), 3)
    """
    unknown = codes < 0
    return np.where(unknown, n_classes, codes), n_classes + int(unknown.any())


def without_groups(X: Any, groups: Any) -> tuple[Any, NDArray[Any] | None]:
    """Rows without the column that names their groups, and that column; or rows and groups as they were given.

    Parameters
    ----------
    X : array, sparse matrix or frame (n, d)
    groups : None, array (n,) or str
        A name is that of a column of the frame, which is no feature then.

    Examples
    --------
    >>> import polars as pl
    >>> rows, groups = without_groups(pl.DataFrame({"age": [40, 50], "patient": ["a", "b"]}), "patient")
    >>> rows.columns, groups.tolist()
    (['age'], ['a', 'b'])
    """
    if groups is None or not isinstance(groups, str):
        return X, None if groups is None else np.asarray(groups)
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "columns", ()))
    if groups not in names:
        raise ParameterError("{}: no column {!r} in X.", Parameter("groups"), groups)
    kept = [name for name in names if name != groups]
    rest = {name: X[name] for name in kept} if isinstance(X, Mapping) else X[kept]
    return rest, np.asarray(X[groups])
