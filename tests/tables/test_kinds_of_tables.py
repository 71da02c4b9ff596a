"""Kinds of real tables (R, KEEL, scikit-learn), made up: how they are read, and which notes come, whatever the seed."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from abnet import CertifiedClassifier, fit_table
from abnet.tables import read_table
from abnet.tables.columns import KINDS
from abnet.tables.columns.numeric import NumericColumn
from abnet.tables.notes import Note, NoteWarning, note_lines
from abnet.tables.preparation import TablePreparation
from abnet.tables.target import split_target

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(2)
Y = np.where(X + RNG.normal(size=N) > 0, "yes", "no").tolist()
Cells = Sequence[object]


def with_odd(cells: Cells, odd: dict[int, object]) -> list[object]:
    """Cells, some of which are others."""
    return [odd.get(row, cell) for row, cell in enumerate(cells)]


class Kind(NamedTuple):
    """Columns of a table beside ``x``, kinds of columns that they become (none: left out), and codes of the notes."""

    columns: Mapping[str, Cells]
    read: dict[str, str]
    notes: tuple[str, ...] = ()


days = [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)]
numbers = [f"{150 + i * 7 % 50}" for i in range(N)]
names = [
    f"{first} {last}"
    for first in ("Ann", "Bo", "Cy", "Di", "Ed", "Flo")
    for last in (
        "Abel",
        "Bach",
        "Cole",
        "Dahl",
        "Eco",
        "Fox",
        "Gray",
        "Hart",
        "Ives",
        "Jung",
        "Kerr",
        "Lund",
        "Moss",
        "Nash",
        "Orr",
        "Pope",
        "Quist",
        "Rolf",
        "Shaw",
        "Todd",
    )
]

TABLES: dict[str, Kind] = {
    "cars93: one word among numbers": Kind(
        {
            "cylinders": with_odd([str(4 + 2 * (i % 3)) for i in range(N)], {57: "rotary"}),
            "origin": [["USA", "non-USA"][i % 2] for i in range(N)],
        },
        {"cylinders": "numeric", "origin": "text"},
        ("odd number",),
    ),
    "hawks: a number among times": Kind(
        {
            "released": with_odd([f"{8 + i % 9}:{i % 60:02}" for i in range(N)], {40: "9.12"}),
            "sex": ["", "F", "M"] * 40,
        },
        {"released": "numeric", "sex": "text"},
        ("number form", "odd number"),
    ),
    "heights: feet and inches among centimetres": Kind(
        {"height": [cell if i % 14 else f"5'{i % 12}\"" for i, cell in enumerate(numbers)]},
        {"height": "numeric"},
        ("odd number",),
    ),
    "mpls: missing labels, places": Kind(
        {"y": with_odd(Y, {5: "", 60: "nan", 61: None}), "lat": (45 + X / 10).round(5).tolist()},
        {"lat": "numeric"},
        ("missing labels",),
    ),
    "starwars: names, words for nothing, half a column missing": Kind(
        {
            "name": names,
            "hair": (["brown, grey", "none", "unknown", "black"] * N)[:N],
            "born": [str(20 + i % 90) if i % 2 else "" for i in range(N)],
        },
        {"hair": "text", "born": "numeric"},
        ("text that does not help",),
    ),
    "survey: a handed word in each column": Kind(
        {
            "hand": with_odd(["Right"] * N, {3: "Left", 30: "", 70: "Left", 90: "Left"}),
            "pulse": with_odd(numbers, {9: "NA"}),
        },
        {"hand": "text", "pulse": "numeric"},
    ),
    "rockart: hundreds of constant columns": Kind(
        {f"c{i}": [0] * N for i in range(50)} | {"petroglyph": [i % 3 % 2 for i in range(N)]},
        {"petroglyph": "numeric"},
        ("constant",),
    ),
    "penguins: NA in every column": Kind(
        {
            "bill": with_odd(numbers, {3: "NA", 80: "NA"}),
            "sex": with_odd(["male", "female"] * 60, dict.fromkeys(range(0, N, 9), "NA")),
            "year": [2007 + i % 3 for i in range(N)],
        },
        {"bill": "numeric", "sex": "text", "year": "numeric"},
    ),
    "titanic: an id, names, codes, a half empty column": Kind(
        {
            "PassengerId": list(range(1, N + 1)),
            "Name": names,
            "Cabin": with_odd([""] * N, {i: f"C{i % 3}" for i in range(0, N, 2)}),
            "Embarked": with_odd(["S", "C", "Q"] * 40, {61: ""}),
        },
        {"Cabin": "text", "Embarked": "text"},
        ("identifier", "text that does not help"),
    ),
    "diamonds: grades, zeros for unknown sizes": Kind(
        {
            "cut": ["Fair", "Good", "Ideal", "Premium", "Very Good"] * 24,
            "z": with_odd(numbers, {4: "0", 44: "0.0"}),
            "price": [f"{326 + 37 * (i * i % 97)}" for i in range(N)],
        },
        {"cut": "text", "z": "numeric", "price": "numeric"},
    ),
    "adult: question marks, blanks after commas": Kind(
        {"work": [" Private", " ?", " State-gov"] * 40, "hours": [f" {20 + i % 40}" for i in range(N)]},
        {"work": "text", "hours": "numeric"},
    ),
    "KEEL: <null> for missing": Kind(
        {
            "size": with_odd(numbers, {6: "<null>", 60: "<null>", 90: "<null>"}),
            "colour": with_odd(["red", "blue"] * 60, dict.fromkeys(range(0, N, 9), "<null>")),
        },
        {"size": "numeric", "colour": "text"},
        ("odd number",),
    ),
    "digits: counts with constant borders": Kind(
        {"p0": [0] * N, "p1": [i % 17 for i in range(N)], "p2": with_odd([0] * N, dict.fromkeys(range(0, N, 9), 16))},
        {"p1": "numeric", "p2": "numeric"},
        ("constant",),
    ),
    "wine: classes are whole numbers": Kind({"y": [i % 3 for i in range(N)], "hue": X.tolist()}, {"hue": "numeric"}),
    "R: TRUE, FALSE and NA": Kind(
        {"smoker": with_odd(["TRUE", "FALSE"] * 60, {11: "NA"}), "old": ["yes", "no"] * 60},
        {"smoker": "boolean", "old": "boolean"},
    ),
    "flights: clocks written as numbers, an infinite ratio": Kind(
        {
            "departs": [f"{5 + i % 18}{i % 60:02}" for i in range(N)],
            "ratio": with_odd(X.tolist(), {3: "inf", 71: "1e400"}),
        },
        {"departs": "numeric", "ratio": "numeric"},
        ("odd number",),
    ),
    "an odd date": Kind({"day": with_odd(days, {9: "never"})}, {"day": "date"}, ("odd date",)),
    "months": Kind({"month": [f"20{10 + i % 9}-{1 + i % 12:02}" for i in range(N)]}, {"month": "date"}, ("months",)),
    "sentinels": Kind(
        {"depth": with_odd([f"{3 + i % 7}.5" for i in range(N)], dict.fromkeys(range(0, N, 9), -999))},
        {"depth": "numeric"},
        ("sentinel",),
    ),
    "money, shares and thousands": Kind(
        {
            "price": [f"${1 + i % 9},{100 + i}.50" for i in range(N)],
            "share": [f"{i % 100}.5%" for i in range(N)],
            "people": [f"{1 + i % 9} {100 + 7 * i % 900}" for i in range(N)],
        },
        {"price": "numeric", "share": "numeric", "people": "numeric"},
        ("number form",),
    ),
    "words for missing numbers": Kind(
        {"age": with_odd(numbers, dict.fromkeys(range(0, N, 17), "unknown"))}, {"age": "numeric"}, ("gap words",)
    ),
    "two numbers in a cell": Kind(
        {"pressure": [f"{100 + i % 50}/{60 + i % 30}" for i in range(N)]}, {}, ("identifier", "more than numbers")
    ),
    "several units": Kind(
        {"mass": [f"{i + 1} kg" if i % 2 else f"{100 * i} g" for i in range(N)]}, {}, ("identifier", "several units")
    ),
    "several labels in a cell": Kind({"y": ["rain", "wind", "rain;wind", "snow"] * 30}, {}, ("several labels",)),
    "labels in two spellings": Kind(
        {"y": with_odd(Y, {2: "Yes", 3: "YES", 40: "Yes", 80: "No"})}, {}, ("labels alike",)
    ),
    "labels 1 and 1.0": Kind({"y": with_odd([1, 2] * 60, {0: "1.0", 50: "1.00"})}, {}, ("one number",)),
    "written after the label": Kind(
        {"letter": ["sent" if y == "yes" else "" for y in Y]}, {"letter": "text"}, ("one value per label",)
    ),
    "sorted by label, with times": Kind(
        {"y": ["no"] * 60 + ["yes"] * 60, "stamp": [f"2021-03-{1 + i // 6:02} {i % 24:02}:00" for i in range(N)]},
        {"stamp": "date"},
        ("times tell the label",),
    ),
    "R: row names and a repeated name": Kind(
        {"": [f"row{i}" for i in range(N)], "z": numbers},
        {"z": "numeric"},
        ("no name",),
    ),
    "codes with leading zeros": Kind({"zip": [f"0{1000 + 7 * (i % 15)}" for i in range(N)]}, {"zip": "text"}),
    "dates of two forms": Kind({"seen": [f"{1 + i % 28}/{1 + i % 12}/2020" for i in range(N)]}, {"seen": "date"}),
    "an empty column": Kind({"remark": [""] * N}, {}, ("empty",)),
}


def written(kind: Kind, folder: Path) -> Path:
    columns = {"x": X.tolist(), "y": Y, **kind.columns}
    path = folder / "table.csv"
    pl.DataFrame(
        {name: [str(cell or "" if cell is None else cell) for cell in cells] for name, cells in columns.items()}
    ).write_csv(path)
    return path


def kinds_of(preparation: TablePreparation) -> dict[str, str]:
    tags = {kind: tag for tag, kind in KINDS.items()}
    return {column.name: tags[type(column)] for column in preparation.map_.columns if column.name != "x"}


@pytest.mark.parametrize("name", TABLES)
def test_a_kind_of_table_is_read_alike_from_any_half_of_its_rows(name: str, tmp_path: Path) -> None:
    kind = TABLES[name]
    X_all, y, said = split_target(read_table(written(kind, tmp_path)), "y")
    for seed in range(4):
        half = np.random.default_rng(seed).permutation(len(y))[: N // 2]
        made = TablePreparation().fit(X_all[half.tolist()], y[half])
        assert kinds_of(made) == kind.read
        unread = [report.note for report in made.map_.read(X_all)[1]]
        codes = {note.code for note in (*said, *made.notes_, *unread)}
        assert codes - {"unseen category"} == set(kind.notes)


@pytest.mark.parametrize("name", TABLES)
def test_a_kind_of_table_is_fitted_at_the_first_attempt(name: str, tmp_path: Path) -> None:
    kind = TABLES[name]
    notes = list[Note]()
    path = written(kind, tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = fit_table(path, "y", estimator=CertifiedClassifier((2,), n_estimators=2, max_iter=1, random_state=0))
        assert len(clf.predict(read_table(path).drop("y"))) == N
    notes = [w.message.note for w in caught if isinstance(w.message, NoteWarning)] + [*clf.preprocessor_.notes_]
    assert set(kind.notes) <= {note.code for note in notes}
    assert len(note_lines(notes)) <= 10


@pytest.mark.parametrize("odd", ["12,5", "12.5"])
def test_a_few_other_decimal_marks_do_not_make_text_of_numbers(odd: str) -> None:
    mark = ","
    if "," in odd:
        mark = "."
    cells = [f"{i % 50}{mark}{i % 10}" for i in range(200)]
    cells[7] = cells[150] = odd
    for numeric in ((), "age"):
        fitted = TablePreparation(numeric=numeric).fit({"age": cells})
        assert [type(column) for column in fitted.map_.columns] == [NumericColumn]
        (note,) = [note for note in fitted.notes_ if note.code == "odd number"]
        assert (note.rows, note.example) == (2, odd)
