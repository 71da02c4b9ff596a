import math
import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abnet.tables.date_grammar import read_dates
from abnet.tables.days import ORDERS, days
from abnet.tables.table import cells_of

ISO, DAY_FIRST, MONTH_FIRST = ORDERS


def day(text: str, order: str = ISO) -> float | None:
    x = float(read_dates([text]).days(order)[0])
    if math.isnan(x):
        return None
    return x


def true_days(moment: datetime) -> float:
    """By the clock of the standard library, which shares nothing with the reader of texts."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)


moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))


@given(moments, st.sampled_from(["T", " "]))
def test_iso_dates_are_the_days_of_the_calendar(moment: datetime, mark: str) -> None:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    assert day(f"{moment:%Y-%m-%d}".rjust(10, "0")) == true_days(midnight)
    assert day(moment.isoformat(mark)) == true_days(moment)
    minute = moment.replace(second=0, microsecond=0)
    assert day(minute.replace(tzinfo=None).isoformat(mark, "minutes") + "Z") == true_days(minute)
    assert day(moment.replace(tzinfo=None).isoformat(mark)) == true_days(moment)


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_a_zone_is_taken_to_utc(moment: datetime, minutes: int) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert day(elsewhere.isoformat()) == true_days(moment)
    assert days(cells_of([elsewhere]), ISO).x[0] == true_days(moment)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-01",
        "2024/3/1",
        "2024.03.01",
        "1 March 2024",
        "01-Mar-2024",
        "Mar 1, 2024",
        "march 1 2024",
        "1 MAR. 2024",
        "2024-03",
        "2024/03",
        "3/2024",
        "Mar 2024",
        "1-Mar-24",
    ],
)
def test_forms_that_need_no_order(text: str) -> None:
    assert [day(text, order) for order in ORDERS] == [true_days(datetime(2024, 3, 1, tzinfo=UTC))] * 3


@pytest.mark.parametrize("text", ["01/03/2024", "1.3.2024", "1-3-2024", "1/3/24", "01.03.24"])
def test_numbers_before_the_year_need_an_order(text: str) -> None:
    first, third = (true_days(datetime(2024, month, day, tzinfo=UTC)) for month, day in ((3, 1), (1, 3)))
    assert [day(text, order) for order in ORDERS] == [None, first, third]


def test_twelve_hours() -> None:
    hours = ["12:00 AM", "1:30 am", "12:00 PM", "11:59 p.m."]
    expected = [0, 1.5 / 24, 0.5, (23 * 60 + 59) / 1440]
    assert [day(f"1/1/1970 {hour}", DAY_FIRST) for hour in hours] == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "20240301",
        "24-03-01",
        "2024-02-30",
        "2024-13",
        "2024-13-01",
        "0000-01-01",
        "2024-03/01",
        "12:30",
        "2024-03-01T24:00",
        "2024-03-01 12:60",
        "2024-03-01 12:30:60",
        "2024-03-01 13:00 PM",
        "32/01/2024",
        "1 Mai 2024",
        "1 mayor 2024",
        "2024-03-01 or so",
        "2024-03-01T",
        "١/١/٢٠٢٤",
        "1e3",
        "1.5",
        "192.168.0.1",
        "2024-03-01T12:00+99:99",
        "2024-03-01T12:00+16:00",
        "2024-03-01T12:00-01:60",
        "2024-03-01" + " " * 40 + "12:00",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert [day(text, order) for order in ORDERS] == [None] * 3


STAMPS = ["2024-03-01 12:30:15.25", "1899-12-31", "2500-01-01 23:59", None]


def typed() -> dict[str, Any]:
    stamps = pd.to_datetime(pd.Series(STAMPS), format="ISO8601")
    arrow = pytest.importorskip("pyarrow")
    return {
        "microseconds": stamps.astype("datetime64[us]"),
        "zone": stamps.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"),
        "arrow": stamps.astype("datetime64[us]").astype(pd.ArrowDtype(arrow.timestamp("us"))),
        "objects": stamps.astype("datetime64[us]").astype(object),
        "python": [datetime.fromisoformat(text) if text else None for text in STAMPS],
        "polars": pl.Series([datetime.fromisoformat(text) if text else None for text in STAMPS]),
        "polars zone": pl.Series(stamps.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")),
        "polars text": pl.Series(STAMPS),
    }


@pytest.mark.parametrize(
    "kind", ["microseconds", "zone", "arrow", "objects", "python", "polars", "polars zone", "polars text"]
)
def test_typed_columns_give_the_same_bits_as_text(kind: str) -> None:
    x, odd = days(cells_of(typed()[kind]), ISO)
    expected, _ = days(cells_of(STAMPS), ISO)
    assert x.tobytes() == expected.tobytes()
    assert not odd
    assert np.isnan(x).tolist() == [False, False, False, True]


def test_days_of_dates_without_time() -> None:
    assert days(cells_of([date(1970, 1, 3), None, date(1969, 12, 31)]), ISO).x[[0, 2]].tolist() == [2, -1]


@pytest.mark.parametrize("missing", ["", "NA", "?", "NaT", None, np.nan])
def test_strange_values_are_counted_and_missing_ones_are_not(missing: Any) -> None:
    x, odd = days(cells_of(["2024-01-01", "soon", " soon", missing, 7]), ISO)
    assert np.isnan(x).tolist() == [False, True, True, True, True]
    assert odd == {"soon": 2, "7": 1}


def test_years_of_two_digits_are_those_from_1969_to_2068() -> None:
    years = {text: day(f"1/1/{text}", DAY_FIRST) for text in ("00", "68", "69", "99")}
    expected = {"00": 2000, "68": 2068, "69": 1969, "99": 1999}
    assert years == {text: true_days(datetime(year, 1, 1, tzinfo=UTC)) for text, year in expected.items()}


FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%fZ", "%d %b %Y", "%B %d, %Y %I:%M %p", "%d/%m/%Y %H:%M", "%d.%m.%y", "%Y-%m"]


@given(st.lists(st.tuples(moments, st.sampled_from(FORMATS)), min_size=1, max_size=20))
def test_a_column_is_its_cells_one_by_one(stamps: list[tuple[datetime, str]]) -> None:
    texts = [moment.strftime(form) for moment, form in stamps] + ["soon", "", "31/31/2020"]
    whole = read_dates(texts).days(DAY_FIRST)
    alone = np.array([read_dates([text]).days(DAY_FIRST)[0] for text in texts])
    assert whole.tobytes() == alone.tobytes()


def test_stamps_by_the_hundred_thousand_go_one_way_in_every_library() -> None:
    stamps = (np.datetime64("1999-12-31T23:00:00", "us") + np.arange(0, 200_000) * 61_000_001).astype(str)
    texts = [*stamps.tolist(), "soon", "", " 2020-01-01 ", "2020-01-01T00:00+02:00", None]
    expected = np.array([None if text is None else text.removesuffix("Z") for text in stamps], "datetime64[us]")
    start = time.process_time()
    x, odd = days(cells_of(pl.Series(texts)), ISO)
    assert time.process_time() - start < 2  # one regular expression per cell took four seconds
    assert x[:200_000].tobytes() == (expected.astype(np.int64) / 86_400_000_000).tobytes()
    assert odd == {"soon": 1}
    assert x[-3:-1].tolist() == [18262.0, 18262.0 - 1 / 12]
    assert days(cells_of(texts), ISO).x.tobytes() == x.tobytes()
