"""A part of a table that shares what was read of the whole."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.tables.column_cells import odd_texts
from abnet.tables.columns import ColumnOptions
from abnet.tables.number_forms import PLAIN, NumberForm
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.column_kinds import choose_all
from abnet.tables.table import as_table
from abnet.tables.text_cells import FIRST_ROWS, TextCells, TextPart

ROWS = np.array([7, 2, 5, 0, 3, 8])
CELLS: dict[str, list[Any]] = {
    "numbers": ["1", "2.5", "", "NA", "many", "-3", "1e3", "007", "unknown"],
    "marked": ["$1,966", "$5", "$12", "$7,000", "$1", "$2", "", "$3", "$4"],
    "texts": ["b", "a", None, "b", "c", "a", "NA", "b", " a "],
    "dates": ["2020-01-02", "2021-05-06", "", "soon", "2020-03-04", "2020-01-02", "2019-09-09", "2020-12-31", "NA"],
}


def pieces(cells: list[Any]) -> pl.Series:
    """A column in three pieces, as a file is read."""
    return pl.concat([pl.Series(cells[i : i + 3], dtype=pl.String) for i in range(0, len(cells), 3)], rechunk=False)


def part_and_copy(cells: list[Any]) -> tuple[TextPart, TextCells]:
    part = as_table(pl.DataFrame({"t": pieces(cells)})).shared().part(ROWS).cells("t")
    assert isinstance(part, TextPart)
    return part, TextCells(pl.Series([cells[row] for row in ROWS], dtype=pl.String))


@pytest.mark.parametrize("name", CELLS)
def test_a_part_says_what_a_copy_of_its_rows_says(name: str) -> None:
    part, copy = part_and_copy(CELLS[name])
    assert len(part) == len(copy)
    assert [part.cell(place) for place in range(len(part))] == [copy.cell(place) for place in range(len(copy))]
    assert part.sample() == copy.sample()
    assert list(part.counts().items()) == list(copy.counts().items())
    assert part.distinct().values == copy.distinct().values
    assert part.distinct().codes.tolist() == copy.distinct().codes.tolist()
    for form in (PLAIN, NumberForm(thousands=",", before="$")):
        for mine, theirs in zip(part.numbers(form), copy.numbers(form), strict=True):
            assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
    for pattern in ("^0[0-9]", r"[0-9]\.", r"\$[0-9,]+", ".*", "c"):
        assert part.any_match(pattern) == copy.any_match(pattern)
        assert part.all_match(pattern) == copy.all_match(pattern)
    pairs: Any = zip(part.dates().written, copy.dates().written, strict=True)
    for written, other in pairs:
        assert part.dates().rows(written).tolist() == copy.dates().rows(other).tolist()
    wrong = np.array([True, False, True, True, False, True])
    assert list(odd_texts(part, wrong).items()) == list(odd_texts(copy, wrong).items())


def test_other_rows_have_no_say() -> None:
    """What the rows beside a part hold decides nothing about it: neither kinds nor numbers nor words for the user."""
    rng = np.random.default_rng(0)
    n = 3 * FIRST_ROWS
    rows = np.random.default_rng(1).permutation(3 * FIRST_ROWS)[:FIRST_ROWS]
    clean: dict[str, list[str]] = {
        "x": [f"{value:.3f}" for value in rng.normal(size=n)],
        "zip": [str(value) for value in rng.integers(10_000, 99_999, n)],
        "colour": rng.choice(["red", "blue"], n).tolist(),
        "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str).tolist(),
    }
    others = np.setdiff1d(np.arange(n), rows)
    spoiled = {name: list(cells) for name, cells in clean.items()}
    for place in others.tolist():
        for name, cell in (("x", "1e300"), ("zip", "01234"), ("colour", f"new {place}"), ("day", "3/4/2021")):
            spoiled[name][place] = cell
    found = [
        choose_all(as_table(pl.DataFrame(columns)).shared().part(rows), ColumnOptions()) for columns in (clean, spoiled)
    ]
    assert found[0] == found[1]
    assert found[0] == choose_all(as_table(pl.DataFrame(clean)[rows]), ColumnOptions())


def test_numbers_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    read_regular = NumberForm.read_regular

    def counting(form: NumberForm, series: pl.Series) -> pl.Series:
        read.append(len(series))
        return read_regular(form, series)

    monkeypatch.setattr(NumberForm, "read_regular", counting)
    table = as_table(pl.DataFrame({"x": [f"{value}.5" for value in range(100)]})).shared()
    rows = np.arange(60)[::-1]
    preparation = TablePreparation().fit(table.part(rows))
    features = preparation.transform(table)
    assert read == [100]
    assert features.tolist() == TablePreparation().fit(table.take(rows)).transform(table).tolist()


def test_numbers_that_are_shared_cannot_be_changed() -> None:
    x = TextCells(pl.Series(["1", "2"])).numbers(PLAIN).x
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 5.0


def test_columns_of_other_types_are_taken_as_ever() -> None:
    frame = pl.DataFrame({"x": [1.5, 2.5, 3.5], "flag": [True, None, False], "text": ["a", "b", "c"]})
    part = as_table(frame).shared().part(np.array([2, 0]))
    assert [[part.cells(name).cell(place) for place in range(2)] for name in frame.columns] == [
        [3.5, 1.5],
        [False, True],
        ["c", "a"],
    ]
    plain = as_table({"x": [1, 2, 3]}).shared().part(np.array([1]))
    assert plain.cells("x").cell(0) == 2


def test_odd_cells_of_other_rows_are_not_looked_at() -> None:
    table = as_table(pl.DataFrame({"x": ["1", "2", "inf", "4", "rotary"]})).shared()
    assert TablePreparation().fit(table.part(np.array([3, 0, 1]))).notes_ == ()


def test_a_text_that_comes_late_is_among_the_distinct_ones() -> None:
    cells = ["a", "b"] * FIRST_ROWS + ["late", None]
    codes, values = TextCells(pl.Series(cells)).distinct()
    assert values == ["a", "b", "late", None]
    assert [values[code] for code in codes.tolist()] == cells
