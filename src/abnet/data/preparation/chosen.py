"""What is decided about a column, and the numbers that every kind of column needs."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.column_kinds import Column

__all__ = ["Centre", "Chosen", "Rules", "Undecided", "centre"]


@dataclass(frozen=True)
class Rules:
    """What the user has said: most categories, the decimal mark ("", "." or ","), columns to use in any case."""

    max_categories: int = 20
    decimal: str = ""
    use: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Chosen:
    """A column kept (or None), why it was dropped if it was, and remarks."""

    column: Column | None
    dropped: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Undecided:
    """Numbers with a mark that may be the decimal one or one for thousands: such a cell, and one without the mark."""

    marked: str
    plain: str


class Centre(NamedTuple):
    """Median, then mean and deviation with the median for missing values (None if all are equal); if any is missing."""

    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def constant(self) -> bool:
        """Whether nothing varies, not even whether there is a value."""
        return self.scale is None and not self.indicator


def centre(x: NDArray[np.float64]) -> Centre:
    """What scaling and imputation need to know of numbers, NaN where missing.

    Examples
    --------
    >>> centre(np.array([1.0, 3.0, np.nan]))
    Centre(fill=2.0, mean=2.0, scale=0.816496580927726, indicator=True)
    """
    absent = np.isnan(x)
    fill = float(np.median(x[~absent]))
    filled = np.where(absent, fill, x)
    deviation = float(filled.std()) if filled.max() > filled.min() else 0.0
    return Centre(fill, float(filled.mean()), deviation or None, bool(absent.any()))
