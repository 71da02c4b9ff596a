"""The golden vectors: what the library computes, and what a reader of docs/model-format.md computes from the file."""

import json
import zlib
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from abnet.tables.columns import NumericColumn
from abnet.tables.days import days
from abnet.tables.number_forms import NumberForm
from abnet.tables.table import as_table, cells_of
from export.grammar import cell_grammar
from export.vectors import PATH, golden_vectors

if not PATH.exists():
    pytest.skip("the vectors are in the repository, not in the wheel", allow_module_level=True)

from export import by_the_book


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))["models"]
    return found


def test_the_library_computes_what_the_file_says() -> None:
    everything = json.loads(PATH.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(golden_vectors()))
    assert everything["grammar"] == made["grammar"]
    known = everything["models"]
    found = made["models"]
    assert list(known) == list(found)
    for name in known:
        assert known[name]["config"] == found[name]["config"], name
        assert known[name]["rows"] == found[name]["rows"], name
        assert known[name]["labels"] == found[name]["labels"], name
        for part in ("features", "scores"):
            np.testing.assert_allclose(found[name][part], known[name][part], rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", stored())
def test_the_page_is_enough_to_write_the_model_again(name: str) -> None:
    vector = stored()[name]
    config = vector["config"]
    for place, row in enumerate(vector["rows"]):
        x = [by_the_book.single(value) for value in by_the_book.prepared(config["preparation"], row)]
        np.testing.assert_allclose(x, vector["features"][place], rtol=2e-7, atol=1e-12)
        found = by_the_book.scores(config, vector["arrays"], x)
        np.testing.assert_allclose(found, np.atleast_1d(vector["scores"][place]), rtol=0, atol=1e-12)
        code = by_the_book.code(found, config["decision"])
        assert (None if code is None else config["labels"]["values"][code]) == vector["labels"][place]
        if vector["probabilities"] is not None:
            shares = by_the_book.probabilities(found, config["calibration"])
            np.testing.assert_allclose(shares, vector["probabilities"][place], rtol=0, atol=1e-12)


def test_the_checksum_on_the_page_is_the_one_of_the_book() -> None:
    page = PATH.with_name("model-format.md").read_text(encoding="utf-8")
    assert f"(for `no` it is {by_the_book.crc32(b'no'):08X})" in page
    assert by_the_book.crc32("größe".encode()) == zlib.crc32("größe".encode())


def test_the_vectors_tell_classes_apart() -> None:
    assert all(len(set(vector["labels"])) > 1 for vector in stored().values())


FORMS = [
    ("1e3", {}), (" -7. ", {}), (".5", {}), ("+12", {}), ("1_0", {}), ("1,5", {}), ("nan", {}), ("1e400", {}),
    ("Infinity", {}), ("?", {}), ("n.a.", {}), ("many", {}), ("0x10", {}),
    ("1.234,5", {"decimal": ",", "thousands": "."}),
    ("1.23,5", {"decimal": ",", "thousands": "."}), ("1\u202f966", {"thousands": " "}), ("1’234.5", {"thousands": "'"}),
    ("-$1,966.50", {"thousands": ",", "before": "$"}), ("$ -3", {"before": "$"}), ("--$3", {"before": "$"}),
    ("12 %", {"after": "%"}), ("12.5%", {"after": "%"}), ("7kg", {"after": "kg"}), ("7 lb", {"after": "kg"}),
    ("7", {"after": "kg"}),
    ("01:30:00", {"duration": True}), ("1:30", {"duration": True}), ("2 days 00:00:01.5", {"duration": True}),
    ("1 h 30 min", {"duration": True}), ("-0:01", {"duration": True}), ("90", {"duration": True}),
    ("1:75", {"duration": True}),
    (str(2**60 + 1), {"offset": 2**60}),
    ("(990.11)", {"brackets": True}), ("(990.11", {"brackets": True}), ("(-5)", {"brackets": True}),
    ("$(1,966.50)", {"brackets": True, "before": "$", "thousands": ","}), ("(5)", {}), ("5 (a)", {"brackets": True}),
    ("(5) kg", {"brackets": True, "after": "kg"}), ("<(5)", {"brackets": True, "limits": True}),
    ("<0.5", {"limits": True}), ("<= 1e3", {"limits": True}), ("≥ 100 kg", {"limits": True, "after": "kg"}),
    ("<<5", {"limits": True}), ("<0.5", {}), ("nan", {"limits": True}), ("<nan", {"limits": True}),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "changes"), FORMS)
def test_numbers_are_read_as_the_page_says(cell: str, changes: dict[str, Any]) -> None:
    form = NumberForm(**changes)
    column = NumericColumn("x", 0.5, 0.0, 1.0, True, form)
    record = {"kind": "numeric", **msgspec.to_builtins(column)}
    expected = column.encode(as_table(pl.DataFrame({"x": [cell]})))[0][0]
    found = [by_the_book.single(value) for value in by_the_book.encoded(record, cell)]
    assert found == expected.tolist()


DATES = [
    "2024-03-01", "2024/3/1", "2024.03.01 12:30", "2024-03-01T12:30:15.123456789Z", "2024-03-01 12:30+02:00",
    "2024-03-01 12:30:59 -0530", "2024-03-01 23:59 UTC", "2024-02-30", "1900-02-29", "2000-02-29", "31/12/1999",
    "12/31/1999", "3.4.2001 1:05 PM", "3-4-2001 12:00 am", "3-4-2001 13:00 am", "1 March 2024", "1-mar-2024",
    "1 Sept. 2024", "Sep 1, 2024", "September 31 2024", "Marz 1 2024", "3/4/68", "3/4/69", "1-Jan-05", "2024-03",
    "3/2024", "March 2024", "mar-2024", "2024", "20240301", "2024-03/01", "2024-03-01 24:00", "2024-03-01 12:60",
    "0000-01-01",
    "2024-03-01 12:30 +16:00", "2024-03-01 12:30 ", "２０２４-03-01", "soon", "", "1 h 2", "9999-12-31 23:59:59.9",
]  # fmt: skip


@pytest.mark.parametrize("order", ["year-month-day", "day/month/year", "month/day/year"])
def test_dates_are_read_as_the_page_says(order: str) -> None:
    expected = days(cells_of(DATES), order).x
    found = [by_the_book.days(cell.strip(), order) for cell in DATES]
    np.testing.assert_array_equal(found, expected)
    assert 10 < np.isfinite(expected).sum() < len(DATES)


def test_the_constants_are_those_of_the_library() -> None:
    grammar = cell_grammar()
    assert (grammar["clip"], grammar["largest"], grammar["year"]) == (1e6, 1e150, 365.2425)
