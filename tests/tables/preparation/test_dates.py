import json
import math
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet.tables import read_table
from abnet.tables.preparation import (
    TableMap,
    TablePreparation,
    UnseenWarning,
    preparation_from_dict,
    preparation_to_dict,
)
from abnet.tables.table import as_table

START = date(2020, 1, 1)


def calendar(n: int, step: int = 1, form: str = "%Y-%m-%d") -> list[str]:
    return [(START + timedelta(days=step * i)).strftime(form) for i in range(n)]


def fitted(values: Any) -> TablePreparation:
    return TablePreparation().fit(pd.DataFrame({"when": values}))


def test_days_and_season_by_hand() -> None:
    table = pd.DataFrame({"when": ["1970-01-01", "1971-01-01", "1971-07-02", ""]})
    preparation = TablePreparation().fit(table)
    assert preparation.get_feature_names_out().tolist() == [
        "when",
        "when (season, sine)",
        "when (season, cosine)",
        "when (missing)",
    ]
    X = preparation.transform(table)
    t = np.array([0, 365, 547, 365])  # the median for the missing one
    assert X[:, 0] == pytest.approx((t - t.mean()) / t.std(), abs=1e-6)
    angles = [2 * math.pi * day / 365.2425 for day in (0, 365, 547)]
    assert X[:3, 1] == pytest.approx([math.sin(a) for a in angles], abs=1e-6)
    assert X[:3, 2] == pytest.approx([math.cos(a) for a in angles], abs=1e-6)
    assert X[3, 1:].tolist() == [0, 0, 1]


def test_the_season_is_that_of_the_calendar() -> None:
    preparation = fitted(["1950-01-01", "2050-01-01"])
    midsummers = preparation.transform(pd.DataFrame({"when": [f"{year}-06-21" for year in range(1900, 2100)]}))
    angle = np.unwrap(np.arctan2(midsummers[:, 1], midsummers[:, 2]))
    assert np.ptp(angle) < 2 * math.pi * 3 / 365  # within two days of the mean, in every year


def test_a_column_within_a_year_has_no_season() -> None:
    assert fitted(calendar(300)).get_feature_names_out().tolist() == ["when"]
    assert len(fitted(calendar(400)).get_feature_names_out()) == 3


def test_distinct_dates_are_no_identifier() -> None:
    preparation = fitted(calendar(100))
    assert preparation.notes_ == ()
    assert np.all(np.diff(preparation.transform(pd.DataFrame({"when": calendar(100)}))[:, 0]) > 0)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (calendar(40), "year-month-day"),
        (calendar(40, form="%d/%m/%Y"), "day/month/year"),
        (calendar(40, form="%m/%d/%Y"), "month/day/year"),
        (["01.02.2024", "03.04.2024", "31.12.2024"], "day/month/year"),
        (["2024-01-01", "3/25/2024"], "month/day/year"),
    ],
)
def test_the_order_is_learned_from_the_values(values: list[str], order: str) -> None:
    preparation = fitted(values)
    assert preparation_to_dict(preparation)["columns"][0]["order"] == order
    assert preparation.notes_ == ()
    assert order in preparation.map_.describe()[0].removeprefix("when: date (").split(")")[0].split(" or ")


@pytest.mark.parametrize(
    ("values", "words", "days"),
    [
        (["05/31/20", "06/01/20"], "month/day/year, year in two digits", [18413, 18414]),
        (["2020-05", "2020-06"], "year-month", [18383, 18414]),
        (["05-Jan-2020", "07-Jan-2020"], "day, name of the month, year", [18266, 18268]),
        (["Jan 5, 2020", "Jan 7, 2020"], "name of the month, day, year", [18266, 18268]),
        (["31/05/2020", "1/06/2020"], "day/month/year", [18413, 18414]),
    ],
)
def test_the_form_is_named_as_it_is_written(values: list[str], words: str, days: list[int]) -> None:
    preparation = fitted(values)
    assert preparation.map_.describe()[0].startswith(f"when: date ({words}), 1 feature")
    assert preparation.map_.columns[0].raw(as_table({"when": values})).tolist() == days  # type: ignore[union-attr]
    codes = ["short years"] * ("two digits" in words) + ["months"] * (words == "year-month")
    assert [note.code for note in preparation.notes_] == codes


def test_an_order_that_nothing_settles_is_remarked_on() -> None:
    preparation = fitted(["01/02/2024", "03/04/2024", "05/05/2024"])
    assert preparation_to_dict(preparation)["columns"][0]["order"] == "day/month/year"
    (note,) = preparation.notes_
    assert (note.code, note.example, note.facts["order"]) == ("date order", "01/02/2024", "day/month/year")
    assert preparation.map_.describe() == ["when: date (day/month/year), 1 feature", str(note)]


def test_an_order_that_one_stray_settles_is_remarked_on() -> None:
    american = [f"{1 + i % 12:02d}/{1 + i // 12:02d}/2021" for i in range(144)]
    preparation = fitted([*american, "13/01/2021"])
    assert preparation_to_dict(preparation)["columns"][0]["order"] == "day/month/year"
    assert preparation.notes_[0].code == "date order"
    assert "1 of 145 rows" in str(preparation.notes_[0])


def test_a_wrong_order_in_a_few_rows_is_outvoted() -> None:
    preparation = fitted([*calendar(40, form="%d/%m/%Y"), "12/31/2020"])
    assert preparation_to_dict(preparation)["columns"][0]["order"] == "day/month/year"
    note = preparation.notes_[0]
    assert (note.code, note.rows, note.example) == ("odd date", 1, "12/31/2020")


def test_nearly_all_values_must_be_dates() -> None:
    few = [*calendar(18), "never", "later"]
    many = [*calendar(8), "never", "never"]
    assert fitted(few).map_.columns[0].kind == "date"
    assert fitted(many).map_.columns[0].kind == "text"
    assert (fitted(few).notes_[0].code, fitted(few).notes_[0].rows) == ("odd date", 2)
    assert fitted(few).get_feature_names_out().tolist() == ["when", "when (missing)"]


def test_constant_dates() -> None:
    table = pd.DataFrame({"when": ["2024-01-01"] * 3, "x": [1, 2, 3]})
    (note,) = TablePreparation().fit(table).notes_
    assert (note.code, note.columns, note.facts["value"]) == ("constant", ("when",), "2024-01-01")
    table["when"] = ["2024-01-01", "", "2024-01-01"]
    assert TablePreparation().fit(table).get_feature_names_out().tolist() == ["when (missing)", "x"]


def test_what_cannot_be_read_later_is_missing_with_a_warning() -> None:
    preparation = fitted([*calendar(20), ""])
    new = pd.DataFrame({"when": ["soon", "", "31/12/2020", "soon"]})
    with pytest.warns(UnseenWarning) as caught:
        X = preparation.transform(new)
    note = caught[0].message.note  # type: ignore[union-attr]
    assert (note.code, note.columns, note.rows, note.example) == ("odd date", ("when",), 3, "soon")
    assert "year-month-day" in str(note)
    assert np.array_equal(X, np.repeat(X[1:2], 4, axis=0))
    assert X[0, -1] == 1


def test_far_dates_make_finite_features() -> None:
    X = fitted(["2024-01-01", "2024-01-02"]).transform(pd.DataFrame({"when": ["0001-01-01", "9999-12-31"]}))
    assert np.isfinite(X).all()


def numbers(preparation: TablePreparation) -> dict[str, Any]:
    """What was learned, but for the words on how dates are written."""
    (column,) = preparation_to_dict(preparation)["columns"]
    return {**column, "written": ""}


def test_typed_columns_go_the_same_way(tmp_path: Path) -> None:
    text = pd.DataFrame({"when": [*calendar(500), ""]})
    typed = pd.DataFrame({"when": pd.to_datetime(text["when"])})
    prepared = TablePreparation().fit(text)
    expected = prepared.transform(text)
    assert numbers(TablePreparation().fit(typed)) == numbers(prepared)
    assert prepared.transform(typed).tobytes() == expected.tobytes()
    pytest.importorskip("pyarrow")
    typed.to_parquet(tmp_path / "t.parquet")
    typed.assign(when=typed["when"].dt.date).to_parquet(tmp_path / "d.parquet")
    for name in ("t.parquet", "d.parquet"):
        frame = read_table(tmp_path / name)
        assert numbers(TablePreparation().fit(frame)) == numbers(prepared)
        assert prepared.transform(frame).tobytes() == expected.tobytes()
    polars = pytest.importorskip("polars")
    for dates in ([date.fromisoformat(t) if t else None for t in text["when"]], typed["when"].tolist()):
        frame = polars.DataFrame({"when": [None if d is pd.NaT else d for d in dates]})
        assert TablePreparation().fit_transform(frame).tobytes() == expected.tobytes()


def test_the_stored_form_gives_the_same_bits() -> None:
    table = pd.DataFrame({"when": [*calendar(500, form="%d/%m/%Y 12:34"), ""]})
    preparation = TablePreparation().fit(table)
    back = preparation_from_dict(json.loads(json.dumps(preparation_to_dict(preparation), allow_nan=False)))
    assert back == preparation.map_
    assert back.transform(table).tobytes() == preparation.transform(table).tobytes()


RECORD = {
    "kind": "date",
    "name": "when",
    "order": "year-month-day",
    "fill": 1.0,
    "mean": 1.0,
    "scale": 2.0,
    "season": True,
    "indicator": False,
    "written": "year-month-day",
}


@pytest.mark.parametrize(
    "change",
    [
        {"order": "year"},
        {"order": ["year-month-day"]},
        {"fill": float("nan")},
        {"mean": "0"},
        {"scale": 0.0},
        {"season": 1},
        {"indicator": None},
        {"more": 1},
        {"written": None},
        {"scale": None, "season": False},
    ],
)
def test_a_tampered_record_is_a_value_error(change: dict[str, Any]) -> None:
    def record(**changes: Any) -> dict[str, Any]:
        return {"kind": "table", "version": 4, "columns": [{**RECORD, **changes}], "notes": []}

    assert preparation_to_dict(preparation_from_dict(record())) == record()
    with pytest.raises(ValueError, match=r"^stored preparation: .*\$\[0\]"):
        preparation_from_dict(record(**change))


def test_a_model_learns_dates_from_its_prior_part_and_keeps_them_in_its_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"when": pd.to_datetime(calendar(120, step=7))})
    y = np.where(frame["when"].dt.month < 7, "first", "second")
    clf = abnet.ABNetClassifier((2,), max_iter=4, preprocessor=TablePreparation(), random_state=0).fit(frame, y)
    clf.save(tmp_path / "dates.abnet")
    loaded = abnet.load(tmp_path / "dates.abnet")
    assert loaded.predict_proba(frame).tobytes() == clf.predict_proba(frame).tobytes()
    assert isinstance(loaded.preparation, TableMap)
    stored = preparation_to_dict(loaded.preparation)["columns"][0]
    everything = preparation_to_dict(TablePreparation().fit(frame))["columns"][0]
    assert (stored["kind"], stored["season"]) == ("date", True)
    assert stored["mean"] != everything["mean"]


def test_words_for_missing_values_among_dates_are_gaps_with_a_note() -> None:
    values = [*calendar(80), *["unknown"] * 10, *["missing"] * 6, *["n.a."] * 4]
    preparation = fitted(values)
    (note,) = preparation.notes_
    assert (note.code, note.rows) == ("gap words", 20)
    assert all(repr(word) in str(note) for word in ("unknown", "missing", "n.a."))
    assert preparation.transform({"when": ["unknown"]})[0, -1] == 1


def test_a_year_of_two_digits_shows_how_it_is_read() -> None:
    """The year may have come first."""
    (note,) = TablePreparation().fit({"day": ["22/09/03", "20/07/02", "22/07/14"] * 9}).notes_
    assert (note.code, note.example, note.facts["day"]) == ("short years", "22/09/03", "2003-09-22")
