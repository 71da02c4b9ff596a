"""Columns of dates: time and season."""

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.scaling import check_scaling, filled_and_scaled
from abnet.tables.days import ORDERS, days
from abnet.tables.table import Table

__all__ = ["BY_TYPE", "YEAR", "DateColumn", "day_text"]

YEAR = 365.2425
"""Days in the mean Gregorian year: the phase stays within two days of the calendar's."""

BY_TYPE = "dates by their type"
"""`written` for dates that have a type of their own in the file or frame."""


def day_text(t: float) -> str:
    """The day of a time in days since 1970-01-01.

    Examples
    --------
    >>> day_text(1.75)
    '1970-01-02'
    """
    return str(np.datetime64(int(np.floor(t)), "D"))


@kind
class DateColumn(Column, frozen=True, tag="date"):
    """``(t - mean) / scale`` of t, the days since 1970-01-01, and the season: ``sin`` and ``cos`` of ``2 π t / YEAR``.

    The first layer of a network sees linear functions of its inputs, and no linear function of t repeats every year.
    A missing date is `fill` in t and (0, 0), the centre of the circle, in the season.

    Attributes
    ----------
    order : str
        What the numbers of a date stand for, one of `ORDERS`.
    fill : float
        The median in fitting.
    mean : float
    scale : float or None
        None if all dates were equal in fitting; then t is not a feature.
    season : bool
        Whether the season is a feature: if the dates span a year in fitting. Otherwise t contains the same information.
    indicator : bool
        Whether a feature marks missing dates, as in `NumericColumn`.
    written : str
        How most dates were written in fitting, in words.
    """

    takes = "date"
    unseen_code = "odd date"
    order: str
    fill: float
    mean: float
    scale: float | None
    season: bool
    indicator: bool
    written: str = ""

    def __post_init__(self) -> None:
        check_scaling(self.fill, self.mean, self.scale)
        if self.order not in ORDERS:
            raise ValueError(f"the order of dates must be one of {', '.join(ORDERS)}")
        if not self.features:
            raise ValueError("a column of dates makes no feature (no scale, season nor indicator)")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        names = []
        if self.scale is not None:
            names.append(self.name)
        if self.season:
            names += [f"{self.name} (season, sine)", f"{self.name} (season, cosine)"]
        if self.indicator:
            names.append(missing_feature(self.name))
        return tuple(names)

    @property
    def read_as(self) -> str:
        """How cells must be written: as most were in fitting."""
        if self.written == BY_TYPE:
            return self.order
        return self.written or self.order

    def described(self) -> str:
        """The kind in words."""
        return f"{self.kind} ({self.written or self.order})"

    def shown(self, value: float) -> str:
        """The day."""
        return day_text(value)

    def raw(self, table: Table) -> NDArray[np.float64]:
        """Days since 1970-01-01, NaN where missing."""
        return days(table.cells(self.name), self.order).x

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features; cells that are neither dates nor missing are reported, and count as missing."""
        t, odd = days(table.cells(self.name), self.order)
        n_missing = int(np.count_nonzero(np.isnan(t)))

        def block(rows: slice) -> NDArray[np.float64]:
            return self._features(t[rows])

        return Encoded(len(t), len(self.features), block, n_missing, t), odd

    def _features(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features (n, width) of some times."""
        missing = np.isnan(t)
        features = []
        if self.scale is not None:
            features.append(filled_and_scaled(t, self.fill, self.mean, self.scale))
        if self.season:
            phase = 2 * np.pi * (t / YEAR)
            features.append(np.where(missing, 0.0, np.sin(phase)))
            features.append(np.where(missing, 0.0, np.cos(phase)))
        if self.indicator:
            features.append(missing.astype(np.float64))
        return np.column_stack(features)
