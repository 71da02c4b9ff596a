"""`PopulationRows`: the rows of one population by true class and answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["PopulationRows", "rows_by_population"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PopulationRows:
    """The rows of one population; those of disjoint parts of a table are added with ``+``.

    Attributes
    ----------
    counts : int array (K + 1, K + 1)
        Rows by true class (last: a label that the model does not know) and answer (last: no answer).
    """

    counts: Ints

    def __add__(self, other: "PopulationRows") -> "PopulationRows":
        return PopulationRows(self.counts + other.counts)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def errors(self) -> int:
        """Wrong or missing answers; a row whose label the model does not know is always an error."""
        return self.n - int(np.trace(self.counts[:-1, :-1]))

    def of_class(self, code: int) -> int:
        """Rows of a class."""
        return int(self.counts[code].sum())

    def answered(self, code: int) -> int:
        """Rows with this answer."""
        return int(self.counts[:, code].sum())

    def right(self, code: int) -> int:
        """Rows of a class that get it as answer."""
        return int(self.counts[code, code])


def rows_by_population(populations: ArrayLike, truth: Ints, answers: Ints, size: int) -> Mapping[str, PopulationRows]:
    """Count the rows of each population.

    Parameters
    ----------
    populations : array-like (n,)
    truth, answers : int arrays (n,)
        Codes from 0 to ``size - 1``.
    size : int

    Examples
    --------
    >>> found = rows_by_population(["f", "m", "f"], np.array([0, 1, 1]), np.array([0, 1, 0]), 3)
    >>> {name: (rows.n, rows.errors) for name, rows in found.items()}
    {'f': (2, 1), 'm': (1, 0)}
    """
    column: list[Any] = np.asarray(populations).tolist()
    names, places = np.unique([str(name) for name in column], return_inverse=True)
    shape = (len(names), size, size)
    cells = np.ravel_multi_index((places, truth, answers), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
    return {str(name): PopulationRows(table) for name, table in zip(names, counts, strict=True)}
