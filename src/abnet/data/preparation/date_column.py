"""How a column of dates becomes features."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet.data.preparation import checks
from abnet.data.preparation.columns import scaled
from abnet.data.tables.dates import ORDERS, days

__all__ = ["YEAR", "DateColumn"]

YEAR = 365.2425
"""Days in the mean Gregorian year: the phase stays within two days of the calendar's."""


@dataclass(frozen=True)
class DateColumn:
    """``(t - mean) / scale`` of t, the days since 1970-01-01, and the season: ``sin`` and ``cos`` of ``2 π t / YEAR``.

    A network's first layer sees linear functions of its inputs, and no linear function of t comes back every year. The
    season is left out when the dates of the fit do not span a whole year (`season` is False), for then it says nothing
    that t does not; t is left out when they were all equal (`scale` is None). Missing dates are `fill` (the median) in
    t and the centre of the circle, (0, 0), in the season; `indicator` as in `NumericColumn`.
    """

    kind: ClassVar[str] = "date"
    name: str
    order: str
    fill: float
    mean: float
    scale: float | None
    season: bool
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)") * self.season
        return (self.name,) * (self.scale is not None) + season + (f"{self.name} (missing)",) * self.indicator

    def encode(self, column: pd.Series) -> tuple[NDArray[np.float32], dict[str, int]]:
        """Features of every row; anything but a date or a missing value is reported, and counts as missing."""
        t, strange = days(column, self.order)
        value = [] if self.scale is None else [scaled(t, self.fill, self.mean, self.scale)]
        absent = [np.isnan(t)] if self.indicator else []
        return np.column_stack([*value, *(_season(t) if self.season else []), *absent]).astype(np.float32), strange

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "DateColumn":
        """The column stored in a record, after checking it."""
        fields = checks.take(
            record, where, name=checks.text, order=_order, fill=checks.number, mean=checks.number,
            scale=checks.optional(checks.positive), season=checks.flag, indicator=checks.flag,
        )  # fmt: skip
        if fields["scale"] is None and not fields["season"] and not fields["indicator"]:
            raise ValueError(f"stored preparation: {where} makes no feature (no scale, season nor indicator).")
        return cls(**fields)


def _season(t: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    phase = 2 * np.pi * (t / YEAR)
    return [np.nan_to_num(np.sin(phase)), np.nan_to_num(np.cos(phase))]


def _order(value: Any, where: str) -> str:
    if value not in ORDERS:
        raise checks.fail(where, f"one of {', '.join(ORDERS)}", value)
    return str(value)
