"""Days that an axis of dates is marked at: first days of years or months, or single days of a short span."""

import numpy as np

__all__ = ["date_ticks"]

MOST = 5
"""Ticks of an axis, about."""
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)
DAYS = (1, 2, 5, 10, 20)


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Days that span an interval, with their texts.

    Parameters
    ----------
    low, high : float
        Days since 1970-01-01.

    Examples
    --------
    >>> [text for _, text in date_ticks(17600.0, 19400.0)]
    ['2018', '2020', '2022', '2024']
    >>> [text for _, text in date_ticks(18262.0, 18400.0)]
    ['2020-01', '2020-03', '2020-05', '2020-07']
    >>> date_ticks(18262.0, 18265.5)
    [(18262.0, '2020-01-01'), (18264.0, '2020-01-03'), (18266.0, '2020-01-05')]
    """
    first, last = int(np.floor(low)), int(np.ceil(high))
    span = max(last - first, 1)
    if span <= 2 * DAYS[-1]:
        step = next(step for step in DAYS if span <= 2 * step)
        return [(float(day), str(np.datetime64(day, "D"))) for day in range(first, last + step, step)]
    step = next((step for step in MONTHS if span / 30.4 <= step * (MOST - 1)), MONTHS[-1])
    months = [int(np.datetime64(first, "D").astype("datetime64[M]").astype(int)) // step * step]
    while _first_day(months[-1]) < last:
        months.append(months[-1] + step)
    return [(float(_first_day(month)), str(np.datetime64(month, "M"))[: 4 if step >= 12 else None]) for month in months]


def _first_day(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[D]").astype(int))
