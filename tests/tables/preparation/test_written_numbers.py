"""Numbers as people write them: each case is read rightly with a note, or refused with what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.tables import TableError, read_table
from abnet.tables.misread_text import _other_dates, misread_text_note
from abnet.tables.preparation import TablePreparation, preparation_from_dict, preparation_to_dict
from abnet.tables.table import as_table


def numbers(preparation: TablePreparation, table: Any) -> list[float]:
    """The numbers behind the first column."""
    x = preparation.map_.columns[0].raw(as_table(table))
    assert x is not None
    return x.tolist()


def read(values: list[str], **options: Any) -> tuple[list[float], list[str]]:
    """The numbers of a column, and what the notes say; the same from a record and from Polars."""
    table: Any = {"c": values}
    preparation = TablePreparation(**options).fit(table)
    frame = pl.DataFrame(table)
    assert preparation.map_.columns[0].kind == "numeric"
    assert preparation_from_dict(preparation_to_dict(preparation)) == preparation.map_
    assert TablePreparation(**options).fit(frame).map_ == preparation.map_
    assert np.array_equal(numbers(preparation, frame), numbers(preparation, table), equal_nan=True)
    return numbers(preparation, table), [str(note) for note in preparation.notes_]


@pytest.mark.parametrize(
    ("values", "expected", "shown"),
    [
        (["$1,966", "$857"], [1966, 857], "'$1,966', read as 1966"),
        (["-$1,966", "$857"], [-1966, 857], "'-$1,966', read as -1966"),
        (["1 966", "857"], [1966, 857], "'1 966', read as 1966"),
        (["1\u00a0966", "857"], [1966, 857], r"'1\xa0966', read as 1966"),
        (["1\u202f966,5", "857"], [1966.5, 857], r"'1\u202f966,5', read as 1966.5"),
        (["1'966", "857"], [1966, 857], '"1\'966", read as 1966'),
        (["1’966", "857"], [1966, 857], "'1’966', read as 1966"),
        (["6,647.34", "857.1"], [6647.34, 857.1], "'6,647.34', read as 6647.34"),
        (["1,234,567", "857"], [1234567, 857], "'1,234,567', read as 1234567"),
        (["1.234.567", "857"], [1234567, 857], "'1.234.567', read as 1234567"),
        (["€ 5000.00", "€ 12.50"], [5000, 12.5], "'€ 5000.00', read as 5000"),
        (["1.250,00 €", "5,50 €"], [1250, 5.5], "'1.250,00 €', read as 1250"),
        (["84.4%", "12%"], [84.4, 12], "'84.4%', read as 84.4"),
        (["12.3 kg", "4 kg", " 5kg "], [12.3, 4, 5], "'12.3 kg', read as 12.3"),
        ([" 36 months", " 60 months"], [36, 60], "'36 months', read as 36"),
        (["01:30:00", "00:05:00"], [5400, 300], "'01:30:00', read as 5400 seconds"),
        (["1 day 00:00:01", "0 days 00:00:00.5"], [86401, 0.5], "'0 days 00:00:00.5', read as 0.5 seconds"),
        (["90 min", "20 min"], [90, 20], "'90 min', read as 90"),
        (["90 min", "2 h", "1 h 30 min"], [5400, 7200, 5400], "'1 h 30 min', read as 5400 seconds"),
        (["1,5", "2,75", "3"], [1.5, 2.75, 3], "'2,75', read as 2.75"),
        (["1.234,5", "7,0"], [1234.5, 7], "'1.234,5', read as 1234.5"),
        (["-0,5", "1,0"], [-0.5, 1], "'-0,5', read as -0.5"),
        (["0,126", "2,060", "3"], [0.126, 2.06, 3], "'0,126', read as 0.126"),
        (["-0.126 kg", "2.060 kg", "3 kg"], [-0.126, 2.06, 3], "'-0.126 kg', read as -0.126"),
        (["- 72", "37"], [-72, 37], "'- 72', read as -72"),
        (["- 72.25", "37.5"], [-72.25, 37.5], "'- 72.25', read as -72.25"),
        (["(990.11)", "37.5"], [-990.11, 37.5], "'(990.11)', read as -990.11"),
        (["($1,766)", "$37", "$(5)"], [-1766, 37, -5], "'($1,766)', read as -1766"),
        (["(1.250,00) €", "5,50 €"], [-1250, 5.5], "'(1.250,00) €', read as -1250"),
    ],
)
def test_marks_and_units_are_read_and_noted(values: list[str], expected: list[float], shown: str) -> None:
    x, notes = read(values)
    assert x == expected
    (note,) = notes
    example, value = shown.split(", read as ")
    assert all(fact in note for fact in ("'c'", example, value))


@pytest.mark.parametrize("values", [["1.234", "857"], ["1,966", "857"], ["1.000", "857"], ["1.234 kg", "857 kg"]])
def test_what_may_be_thousands_or_a_fraction_is_refused_and_decided_by_the_user(values: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        TablePreparation().fit({"c": values, "t": ["u", "v"]})
    message = str(caught.value)
    for fact in ("'c'", repr(values[0]), repr(values[1]), "decimal='comma'", "decimal='point'"):
        assert fact in message
    whole = float(values[0][0] + values[0][2:5])
    fraction = float(f"{values[0][0]}.{values[0][2:5]}")
    as_point, _ = read(values, decimal="point")
    as_comma, _ = read(values, decimal="comma")
    assert {as_point[0], as_comma[0]} == {whole, fraction}
    assert as_point[0] == (fraction if "." in values[0] else whole)


def test_a_file_with_semicolons_is_refused_by_the_same_rule(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("price;city\n1.234;Oslo\n857;Rome\n2.345;Rome\n")
    frame = read_table(tmp_path / "t.csv")
    with pytest.raises(TableError, match=r"'1\.234'.*'857'"):
        TablePreparation().fit(frame)
    assert numbers(TablePreparation(decimal="comma").fit(frame), frame) == [1234, 857, 2345]


@pytest.mark.parametrize(
    ("other", "expected"),
    [(["0.5", "1.25"], 1.234), (["0,5", "1,25"], 1234), (["6,647.34", "1.5"], 1.234), (["12.5 kg", "3 kg"], 1.234)],
)
def test_other_columns_tell_the_decimal_mark(other: list[str], expected: float) -> None:
    table = {"c": ["1.234", "857"], "o": other}
    preparation = TablePreparation().fit(table)
    assert numbers(preparation, table) == [expected, 857]
    word = "comma"
    if expected == 1.234:
        word = "point"
    note = preparation.notes_[0]
    assert (note.code, note.columns, note.example, note.facts["mark"]) == ("decimal mark", ("c",), "1.234", word)


@pytest.mark.parametrize(("other", "expected"), [(["0,126", "2,060"], 1234), (["0.126 kg", "2.060 kg"], 1.234)])
def test_a_fraction_below_one_tells_the_decimal_mark(other: list[str], expected: float) -> None:
    table = {"c": ["1.234", "857"], "o": other}
    assert numbers(TablePreparation().fit(table), table) == [expected, 857]


def test_numbers_that_are_all_in_brackets_are_no_negative_numbers() -> None:
    preparation = TablePreparation().fit({"c": ["(1)", "(2)", "(3)", "(2)"]})
    assert preparation.map_.columns[0].kind == "text"


def test_limits_of_measurement_are_read_as_numbers_with_a_note() -> None:
    values = [f"{i / 8}" for i in range(30)] + ["<0.5"] * 7 + ["> 100", "≥100", "unknown"]
    x, notes = read(values)
    assert x[30:39] == [0.5] * 7 + [100.0, 100.0]
    assert np.isnan(x[39])
    assert [note.code for note in TablePreparation().fit({"c": values}).notes_] == ["limits", "gap words"]
    assert "9 cells" in notes[0]
    assert "'<0.5'" in notes[0]
    x, _ = read([f"{i},5 mg" for i in range(30)] + ["<0,5 mg"] * 9 + ["none left"])
    assert x[30] == 0.5


@pytest.mark.parametrize(
    "values",
    [["<=50K", ">50K"] * 20, ["0", "1", "2", ">2"] * 20, ["<18", "18-25", "26-35", ">35"] * 20, ["<null>", "<a>"] * 9],
)
def test_classes_with_limits_stay_categories(values: list[str]) -> None:
    preparation = TablePreparation().fit({"c": values})
    assert len(preparation.map_.columns[0].features) == len(set(values))


def test_codes_with_their_meaning_are_categories_however_rare() -> None:
    values = ["0_no"] * 200 + ["1_yes"] * 3
    others = ["0_no", "1_yes", "9_unknown"] * 67 + ["?", "0_no"]
    preparation = TablePreparation().fit({"c": values, "d": others, "e": ["1. <=Good", "2. >=Very Good"] * 101 + [""]})
    assert preparation.get_feature_names_out()[:2].tolist() == ["c=0_no", "c=1_yes"]
    assert preparation.notes_ == ()
    kilos = [f"{i} kg" for i in range(60)] + ["3 lb"]
    assert TablePreparation().fit({"c": kilos}).map_.columns[0].kind == "numeric"


def test_two_decimal_marks_in_one_column_are_not_read() -> None:
    values = [f"0.{i}26" if i % 2 else f"0,{i}26" for i in range(10)] * 3
    preparation = TablePreparation().fit({"c": values, "d": range(30)})
    assert preparation.map_.columns[0].kind == "text"
    note = preparation.notes_[0]
    assert (note.code, note.rows, note.facts["total"], note.example) == ("nearly numbers", 15, 30, "0,826")


def test_a_fraction_below_one_is_one_whatever_the_user_says() -> None:
    x, notes = read(["0.112", "1.234", "3"], decimal="comma")
    assert x == [0.112, 1.234, 3]
    assert len(notes) == 1
    (note,) = TablePreparation(decimal="comma").fit({"c": ["0.112", "1.234", "3"]}).notes_
    assert note.code == "decimal point"


def test_marks_in_all_cells_are_asked_about_too() -> None:
    with pytest.raises(TableError, match=r"'c'.*'1,966'"):
        TablePreparation().fit({"c": ["1,966", "2,857"]})


def test_columns_that_contradict_each_other_tell_nothing() -> None:
    with pytest.raises(TableError, match=r"'1\.234'.*'857'"):
        TablePreparation().fit({"c": ["1.234", "857"], "o": ["0.5", "1.25"], "p": ["0,5", "1,25"]})


@pytest.mark.parametrize(
    "values",
    [["1.234", "2.345"], ["0.123", "857"], ["1.234", "5.6"], ["1.234", "12345"], ["1", "2"], ["1.5", "857", "1.234"]],
)
def test_plain_numbers_are_plain(values: list[str]) -> None:
    assert read(values) == ([float(value) for value in values], [])


def test_words_for_missing_values_among_numbers_are_gaps_with_a_note() -> None:
    values = [str(i % 7) for i in range(80)] + ["unknown"] * 10 + ["missing"] * 6 + ["n.a."] * 4
    x, notes = read(values)
    assert np.isnan(x).sum() == 20
    assert len(notes) == 1
    assert "20 cells" in notes[0]
    assert all(repr(word) in notes[0] for word in ("unknown", "missing", "n.a."))
    names = TablePreparation().fit({"c": values}).get_feature_names_out().tolist()
    assert names == ["c", "c (missing)"]
    assert TablePreparation().fit({"c": ["unknown", "known"]}).map_.columns[0].kind == "text"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["1.5 kg", "2.5 g", "3 kg"], "its numbers have several units ('g', 'kg')"),
        (["20-05-31", "20-06-01"], "dates such as '20-05-31' do not show where the year is"),
    ],
)
def test_what_stays_text_though_it_may_not_be_meant_so_is_noted(values: list[str], told: str) -> None:
    preparation = TablePreparation(use="c").fit({"c": values})
    assert preparation.map_.columns[0].kind == "text"
    assert f"column 'c' is read as text because {told}" in str(preparation.notes_[0])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([f"1.{i}66,10" + "-" * (i % 2) for i in range(9)], "a minus as in '1.766,10-' is not recognised"),
        ([f"\u2212{i}.5" for i in range(9)], "if it should be numeric, write '-8.5'"),
        ([f"{i} kg" if i % 2 else str(i) for i in range(9)], "its numbers have several units ('kg' and none)"),
        ([f"{i}%" if i % 3 else f"0.{i}1" for i in range(9)], "several units ('%' and none)"),
        (["$1.2k", "$3M", "$500", "$2.5k"], "its numbers have several units ('$', '$M', '$k')"),
        ([f"{90 + i}/{60 + i}" for i in range(30)], "values such as '99/69' are not recognised as numbers"),
        ([f"{90 + i} m2" for i in range(30)], "if they measure something, write one plain number each"),
        ([f"5'{i}\"" for i in range(30)], "are not recognised as numbers"),
        ([f"{i:03}.5" for i in range(30)], "values such as '029.5' are not recognised as numbers"),
        ([f"{i}:30.5" for i in range(30)], "values such as '9:30.5' are not recognised as numbers"),
        ([f"{i + 1}. Mai 2020" for i in range(30)], "dates such as '9. Mai 2020' are not recognised"),
        ([f"{i + 1} février 2020" for i in range(28)], "if they are dates, write them as 2020-12-31"),
        ([f"Wed, {i + 1} Jan 2019 10:30:00 GMT" for i in range(28)], "dates such as 'Wed, 9 Jan 2019 10:30:00 GMT'"),
        ([f"2019-W{i + 10}" for i in range(28)], "dates such as '2019-W37' are not recognised"),
        ([f"2020-{i % 31 + 1:02}-{i % 12 + 1:02}" for i in range(60)], "dates such as '2020-31-07' are not recognised"),
        (["0000-00-00", *[f"2020-01-{i:02}" for i in range(10, 16)]], "2 rows of 14 are not dates"),
        ([f"{i}/12/2020" for i in range(1, 31)] + [f"12/{i}/2020" for i in range(13, 31)], "36 rows of 96"),
    ],
)
def test_numbers_and_dates_that_are_not_read_are_noted(values: list[str], told: str) -> None:
    table = {"c": [*values, *values], "d": range(2 * len(values))}
    found = TablePreparation(use="d").fit(table).notes_
    notes = [str(note) for note in found if note.code != "merged categories"]
    assert [told in note for note in notes] == [True], notes


@pytest.mark.parametrize(
    "values",
    [
        ["18-25", "26-35", "36-45", "46+"],
        [f"{i:05}" for i in range(90, 140)],
        ["unknown", "n.a.", ""],
        [f"{i} Main Street {chr(65 + i % 26)}{i}, {place}" for i, place in enumerate(["Ayr", "Rye", "Bath"] * 9)],
        [f"A{i}" for i in range(40)],
        [f"{i:x}a{i:x}" for i in range(256, 300)],
        ["May", "June", "July"],
    ],
    ids=["classes", "codes", "gaps", "addresses", "rooms", "hexadecimal", "months"],
)
def test_categories_and_codes_are_not_doubted(values: list[str]) -> None:
    table = {"c": [*values, *values], "d": range(2 * len(values))}
    assert not any("because" in str(note) for note in TablePreparation(use="d").fit(table).notes_)


@pytest.mark.parametrize(
    "values", [["A1", "A2"], ["Q1 2020", "Q2 2020"], ["1st", "2nd"], ["3-4", "5-6"], ["v1.2", "v1.3"]]
)
def test_codes_are_no_numbers_with_units(values: list[str]) -> None:
    assert [column.kind for column in TablePreparation().fit({"c": values}).map_.columns] == ["text"]


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        (["$1,966.5", "$857"], "1234.5"),
        (["12,5 kg", "3 kg"], "12.5 kg"),
        (["12.5", "3"], "12,5"),
        (["12.5", "3"], "many"),
        (["01:30:00", "02:00:00"], "90"),
        (["12.3 kg", "4 kg"], "5 g"),
    ],
)
def test_a_number_of_another_form_is_missing_and_reported(values: list[str], cell: str) -> None:
    preparation = TablePreparation().fit({"c": values})
    gap = preparation.transform({"c": [values[0], ""]})
    for frame in ({"c": [values[0], cell]}, pl.DataFrame({"c": [values[0], cell]})):
        found, (report,), _ = preparation.map_.read(frame)
        assert np.array_equal(found, gap)
        assert report.rows == {cell: 1}
        with pytest.raises(TableError, match=f"'c'.*data row 2.*'{cell}'"):
            preparation.map_.transform(frame, unseen="error")


def test_numbers_by_type_are_those_of_the_text() -> None:
    table = {"c": ["12.3 kg", "4 kg"]}
    preparation = TablePreparation().fit(table)
    assert preparation.transform({"c": [12.3, 4.0]}).tolist() == preparation.transform(table).tolist()


BIG = 2**60


@pytest.mark.parametrize(
    "values",
    [
        [str(BIG + i * i) for i in range(40)],
        pl.Series([str(BIG + i * i) for i in range(40)]),
        [BIG + i * i for i in range(40)],
        pl.Series([BIG + i * i for i in range(40)]),
        pl.Series([2**63 + i * i for i in range(40)], dtype=pl.UInt64),
        [str(-BIG - i * i) for i in range(40)],
        [f"{BIG + i * i}.0" for i in range(40)],
        [f"{BIG + i * i:,}" for i in range(40)],
        [str(2**200 + i * i) for i in range(40)],
    ],
    ids=["text", "text in Polars", "numbers", "polars", "unsigned", "negative", "point", "commas", "huge"],
)
def test_large_whole_numbers_keep_their_differences(values: Any) -> None:
    preparation = TablePreparation(use="c").fit({"c": values})  # or it is left out as an identifier
    x = preparation.map_.columns[0].raw(as_table({"c": values}))
    assert x is not None
    assert np.abs(x - x[0]).tolist() == [float(i * i) for i in range(40)]
    assert len(np.unique(preparation.transform({"c": values}))) == 40
    again = preparation_from_dict(preparation_to_dict(preparation))
    assert again.transform({"c": values}).tobytes() == preparation.transform({"c": values}).tobytes()


def test_numbers_in_pieces_and_by_either_engine_are_the_same_bits() -> None:
    values = [str(BIG + i) for i in (0, 3, 5, 5)] + ["", "n.a.", f"{BIG + 7}.5", f"{BIG + 9}e0", f" {BIG}"]
    preparation = TablePreparation().fit(pl.DataFrame({"c": values}))
    assert numbers(preparation, pl.DataFrame({"c": values}))[:4] == [0, 3, 5, 5]
    whole = preparation.transform(pl.DataFrame({"c": values}))
    parts = [preparation.transform({"c": [value]}) for value in values]
    assert np.vstack(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("decimal", ["dot", "", None, "."])
def test_the_decimal_mark_is_checked(decimal: Any) -> None:
    with pytest.raises(ValueError, match=r"decimal.*'auto', 'point', 'comma'"):
        TablePreparation(decimal=decimal).fit({"c": ["1", "2"]})


def test_dates_above_and_other_texts_below_are_text() -> None:
    """Only some texts are looked at for their looks, but from top to bottom."""
    days = (np.datetime64("1900-01-01") + np.arange(20_000)).astype(str).tolist()
    assert misread_text_note("c", dict.fromkeys([*days, *(f"item {i}" for i in range(30_000))], 1)) is None
    assert _other_dates({days[0]: 1}, 1) is None  # which are read
