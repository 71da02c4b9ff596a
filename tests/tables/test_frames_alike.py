"""Frames one after another that differ: in the order of columns, in types, in columns; each is read or refused."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet import ABNetClassifier, fit_table
from abnet.tables import TableError
from abnet.tables.loaded_rows import load_rows
from abnet.tables.polars_frames import alike, as_polars

SMALL = ABNetClassifier((2,), max_iter=2, random_state=0)
Change = Callable[[pl.DataFrame], Any]


def parts() -> list[pl.DataFrame]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200)).round(3)
    day = [date(2024, 1, 1 + i % 28) for i in range(200)]
    whole = pl.DataFrame({"a": a, "b": b, "n": rng.integers(5, size=200), "day": day, "y": a + b > 0})
    return [whole[start : start + 50] for start in range(0, 200, 50)]


def changed(change: Change, which: int) -> Iterator[Any]:
    return (change(part) if place == which else part for place, part in enumerate(parts()))


@pytest.mark.parametrize("which", [0, 1, 3])
@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[:, ::-1],
        lambda part: part.to_pandas(),
        lambda part: part.with_columns(pl.col("n").cast(pl.Float64)),
        lambda part: part.with_columns(pl.col("n", "a").cast(pl.String)),
        lambda part: part.with_columns(pl.col("day").cast(pl.String)),
    ],
    ids=["order", "pandas", "whole numbers and floats", "text of numbers", "text of dates"],
)
def test_frames_that_differ_in_order_and_types_are_one_table(change: Change, which: int) -> None:
    settings: dict[str, Any] = {"max_learn_rows": 1000, "share": 0.5, "seed": 0}
    plain = load_rows(parts, "y", **settings)
    other = load_rows(lambda: alike(map(as_polars, changed(change, which))), "y", **settings)
    assert [str(label) for label in other.y] == [str(label) for label in plain.y]
    for name in ("a", "b", "n"):
        np.testing.assert_array_equal(other.X[name].cast(pl.Float64), plain.X[name].cast(pl.Float64))
    days = [part.X["day"].cast(pl.String).str.head(10).to_list() for part in (other, plain)]
    assert days[0] == days[1]


@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("gap", [None, float("nan")], ids=["null", "NaN"])
def test_a_frame_without_a_value_in_a_column_may_have_any_type_there(gap: Any, which: int) -> None:
    """Pandas makes NaN of a piece of text or dates without a value."""
    frames = changed(lambda part: part.with_columns(day=pl.lit(gap), n=pl.lit(gap)), which)
    part = load_rows(lambda: alike(frames), "y", max_learn_rows=1000, share=0.5, seed=0)
    assert part.X["day"].dtype == pl.Date
    assert part.X["day"].null_count() == part.X["n"].null_count() == 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: part.drop("a", "n"), "frame 3 .*'a', 'n'"),
        (lambda part: part.with_columns(new=1), "frame 3 .*'new'"),
        (lambda part: part.with_columns(a=pl.lit(date(2024, 1, 1))), "'a'.*dates.*numbers"),
        (lambda part: part.with_columns(day=5), "frame 3 .*'day'.*numbers.*dates"),
        (lambda part: part.with_columns(n=pl.lit(True)), "'n'.*booleans.*numbers"),
        (lambda part: part.with_columns(pl.col("y").cast(pl.Int64)), "'y'.*numbers.*booleans"),
        (lambda part: part.with_columns(pl.col("y").cast(pl.String)), "'y'.*text.*booleans"),
    ],
    ids=["lacks", "adds", "dates", "numbers", "booleans", "labels", "text"],
)
def test_frames_that_are_no_one_table_are_refused(change: Change, message: str) -> None:
    with pytest.raises(TableError, match=message):
        fit_table(changed(change, 2), "y", estimator=SMALL)


def test_frames_that_are_none(tmp_path: Any) -> None:
    with pytest.raises(TableError, match="rows"):
        fit_table(iter([]), "y", estimator=SMALL)
    with pytest.raises(TypeError, match="paths"):
        fit_table(["a.csv", "b.csv"], "y", estimator=SMALL)


@pytest.mark.parametrize("most", [60, 1000])
def test_a_plan_of_polars_is_a_table(most: int) -> None:
    whole = pl.concat(parts())
    plan, frame = (fit_table(table, "y", estimator=SMALL, max_learn_rows=most) for table in (whole.lazy(), whole))
    assert plan.certificate_ == frame.certificate_


def test_pieces_of_pandas_with_gaps_are_the_whole_table() -> None:
    """As `pandas.read_csv` gives pieces: whole numbers become floats where a cell is empty."""
    frame = pl.concat(parts()).drop("day").to_pandas()
    frame["n"] = frame["n"].astype("float64").where(frame.index % 100 != 99)
    pieces = [frame[start : start + 50].copy() for start in range(0, 200, 50)]
    pieces = [piece if piece["n"].isna().any() else piece.astype({"n": "int64"}) for piece in pieces]
    assert {str(piece["n"].dtype) for piece in pieces} == {"int64", "float64"}
    tables: list[Any] = [iter(pieces), pd.concat(pieces)]
    fits: list[Any] = [fit_table(table, "y", estimator=SMALL, max_learn_rows=60).certificate_ for table in tables]
    assert fits[0].facts == fits[1].facts
    assert fits[0].empirical_gibbs_risk == pytest.approx(fits[1].empirical_gibbs_risk, rel=1e-12)
