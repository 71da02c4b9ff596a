"""The kinds of columns that a table may have, and what is decided about one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet import records
from abnet.data.preparation.columns import BooleanColumn, DateColumn, NumericColumn, TextColumn
from abnet.data.preparation.words import WordsColumn

__all__ = ["Centre", "Chosen", "Column", "Rules", "Undecided", "centre", "column_from_dict"]


Column = NumericColumn | BooleanColumn | DateColumn | TextColumn | WordsColumn
"""Each has a `name`, the names of its `features`, `encode` for them, and `raw` for the numbers behind them, if any."""
_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (NumericColumn, BooleanColumn, DateColumn, TextColumn, WordsColumn)
}  # fmt: skip


def column_from_dict(record: Any, where: str, version: int) -> Column:
    """The column of the kind that a record names."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise records.refusal(f"{where}.kind", f"be one of {sorted(_KINDS)}", kind)
    return _KINDS[kind].from_dict({key: value for key, value in record.items() if key != "kind"}, where, version)


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
