"""Ticks of an axis of dates: first days of years or months, or single days of a short interval."""

import numpy as np

__all__ = ["date_ticks"]

MOST = 5
"""About how many ticks an axis has."""
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)
"""Possible steps between ticks, in months."""
DAYS = (1, 2, 5, 10, 20)
"""Possible steps of short intervals, in days."""


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Days that span an interval, each with its text.

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
    first = int(np.floor(low))
    last = int(np.ceil(high))
    span = max(last - first, 1)
    if span <= 2 * DAYS[-1]:
        step = next(step for step in DAYS if span <= 2 * step)
        return [(float(day), str(np.datetime64(day, "D"))) for day in range(first, last + step, step)]
    step = next((step for step in MONTHS if span / 30.4 <= step * (MOST - 1)), MONTHS[-1])
    month = int(np.datetime64(first, "D").astype("datetime64[M]").astype(int)) // step * step
    ticks = [(float(_first_day(month)), _month_text(month, step))]
    while ticks[-1][0] < last:
        month += step
        ticks.append((float(_first_day(month)), _month_text(month, step)))
    return ticks


def _month_text(month: int, step: int) -> str:
    """A month, or its year if ticks are whole years apart; months are counted from 1970-01."""
    text = str(np.datetime64(month, "M"))
    if step >= 12:
        return text[:4]
    return text


def _first_day(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[D]").astype(int))
