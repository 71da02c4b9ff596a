"""The times of rows, from any column: dates, time stamps, numbers; and rows without one."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet.tables.table_errors import TableError
from abnet.tables.times import read_times

DAYS = ["2024-02-28", "2024-02-29", "2024-03-01"]
COLUMNS: dict[str, Any] = {
    "text": DAYS,
    "text in Polars": pl.Series(DAYS),
    "day first": ["28.02.2024", "29.02.2024", "01.03.2024"],
    "dates": [date.fromisoformat(day) for day in DAYS],
    "moments with a zone": [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in DAYS],
    "NumPy": np.array(DAYS, "datetime64[D]"),
    "pandas": pd.Series(pd.to_datetime(DAYS)),
    "pandas with a zone": pd.Series(pd.to_datetime(DAYS, utc=True)),
    "Polars dates": pl.Series([date.fromisoformat(day) for day in DAYS]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_dates_of_any_kind(column: Any) -> None:
    times = read_times(column)
    assert times.values.tolist() == [19781.0, 19782.0, 19783.0]
    assert times.after(19782.0) == "after 2024-02-29"


@pytest.mark.parametrize("column", [[3, 1, 2], ["3", "1", "2"], np.array([3.0, 1.0, 2.0]), pl.Series([3, 1, 2])])
def test_numbers(column: Any) -> None:
    times = read_times(column, "week")
    assert times.values.tolist() == [3.0, 1.0, 2.0]
    assert times.after(2.0) == "with week after 2"


def test_the_words_tell_neighbouring_moments_apart() -> None:
    times = read_times(["2024-03-01T12:30:00.000001", "2024-03-01T12:30"])
    assert times.after(times.values[0]) == "after 2024-03-01 12:30:00.000001"
    assert times.after(times.values[1]) == "after 2024-03-01 12:30:00"


@pytest.mark.parametrize(
    ("column", "facts"),
    [
        ([*DAYS, "soon", ""], ["2 rows", "data row 4", "'soon'", "data row 5", "empty", "'seen'"]),
        (pd.Series([1.0, np.nan], index=[7, 8]), ["1 row", "data row 2"]),
        ([1, float("inf")], ["data row 2"]),
        ([*DAYS, 3], ["data row 4", "'3'"]),
        (["03/04/2024", "05/06/2024"], ["'03/04/2024'", "day/month", "month/day"]),
        ([True, False], ["2 rows"]),
    ],
)
def test_what_is_no_time(column: Any, facts: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        read_times(column, "seen")
    for fact in facts:
        assert fact in str(caught.value)


def test_one_date_settles_the_order() -> None:
    assert read_times(["03/04/2024", "13/04/2024"]).values.tolist() == [19816.0, 19826.0]
    assert read_times(["04/03/2024", "04/13/2024"]).values.tolist() == [19816.0, 19826.0]


def test_more_than_one_time_for_a_row_is_refused() -> None:
    for column in (np.arange(6.0).reshape(-1, 1), pd.DataFrame({"a": [1, 2], "b": [3, 4]})):
        with pytest.raises(TableError, match="one time for each row"):
            read_times(column)
