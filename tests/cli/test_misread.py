"""Tables that version 0.1 misread in silence, at the command line, with the certificates before and after."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.misread import indexed, thousands
from cli.tables import Failure, Run

QUICK = ["--quiet", "--max-iter", "2", "--hidden-layer-sizes", "2", "--n-estimators", "2"]
"""Two networks, whose inputs are padded: these tables have one program."""


def fit(run: Run, folder: Path, text: str, target: str, *options: str) -> dict[str, Any]:
    (folder / "t.csv").write_text(text)
    shown = run("fit", folder / "t.csv", "--target", target, "-o", folder / "m.abnet", "--quiet", "--json", *options)
    return dict(json.loads(shown.stdout))


def error_on(run: Run, folder: Path, text: str, target: str, separator: str) -> float:
    """Share of new rows that the model gets wrong."""
    (folder / "new.csv").write_text(text)
    answers = run("predict", folder / "m.abnet", folder / "new.csv").stdout.splitlines()[1:]
    labels = [row[target] for row in csv.DictReader(io.StringIO(text), delimiter=separator)]
    return sum(a != b for a, b in zip(answers, labels, strict=True)) / len(labels)


def test_points_for_thousands_are_asked_about(run: Run, failure: Failure, tmp_path: Path) -> None:
    """Version 0.1 took ``2.791`` for less than 3 beside ``363``, without a word: 115 errors on 300 rows, 43.2 %
    certified, 43.7 % of new rows wrong. Read rightly: 35 errors, 15.2 %, and 10.3 % of new rows (10 % of all labels
    are drawn to be wrong)."""
    (tmp_path / "t.csv").write_text(thousands())
    facts = ["'people'", "--decimal comma", "--decimal point"]
    arguments = ["fit", tmp_path / "t.csv", "--target", "size", "-o", tmp_path / "m.abnet", "--quiet"]
    assert re.search(r"'\d+\.\d{3}'.*'\d{3}'", failure(*arguments, naming=facts))
    # Taught networks find both scales of the misread numbers; the one network of 0.1 did not.
    one = ["--hidden-layer-sizes", "4,4"]
    before = fit(run, tmp_path, thousands(), "size", "--decimal", "point", *one)["certificate"]
    assert before["vote_error_bound"] > 0.4
    assert error_on(run, tmp_path, thousands(seed=1), "size", ";") > 0.4
    record = fit(run, tmp_path, thousands(), "size", "--decimal", "comma", "--teacher", "none")
    assert record["certificate"]["vote_error_bound"] < 0.2
    assert error_on(run, tmp_path, thousands(seed=1), "size", ";") <= record["certificate"]["vote_error_bound"]
    forms = [note for note in record["note_data"] if note["code"] == "number form"]
    assert any(re.search(r"\b\d{4,5}\b", note["text"]) for note in forms)


def test_the_index_of_a_sorted_table_is_left_out(run: Run, tmp_path: Path) -> None:
    """Version 0.1 learned the label from the index: 6 errors on 500 rows, 2.4 % certified, and 49.9 % of new rows
    wrong. Without it: 187 errors, 41.2 %, and 40.5 % of new rows."""
    untaught = ["--teacher", "none"]  # several times as fast, and misled as much
    record = fit(run, tmp_path, indexed(), "y", "--use", "column 1 (unnamed)", *untaught)
    before = record["certificate"]["vote_error_bound"]
    misled = error_on(run, tmp_path, indexed(seed=1, in_order=False), "y", ",")
    assert before < 0.05 < 0.4 < misled
    record = fit(run, tmp_path, indexed(), "y", *untaught)
    after = record["certificate"]["vote_error_bound"]
    assert error_on(run, tmp_path, indexed(seed=1, in_order=False), "y", ",") <= after
    assert 0.35 < after < 0.5
    found = [(note["code"], note["columns"]) for note in record["note_data"]]
    assert found == [("no name", ["column 1 (unnamed)"]), ("labels by position", [])]
    assert any("--use 'column 1 (unnamed)'" in note for note in record["notes"])


CELLS = {
    "dollars": (["$1,966", "$857", "$33"], "number form", "1966"),
    "blanks": (["1 966", "857", "33"], "number form", "1966"),
    "apostrophes": (["1'966", "857", "33"], "number form", "1966"),
    "both marks": (["6,647.34", "857.25", "33.10"], "number form", "6647.34"),
    "euros": (["€ 5000.00", "€ 420.50", "€ 33.10"], "number form", "5000"),
    "percent": (["84.4%", "2.5%", "3.1%"], "number form", "84.4"),
    "kilograms": (["12.3 kg", "1.1 kg", "8.7 kg"], "number form", "12.3"),
    "durations": (["01:30:00", "00:45:00", "02:10:30"], "number form", "seconds"),
    "durations by their letters": (["PT1H30M", "PT45M", "PT2H10M30S"], "number form", "seconds"),
    "gaps": (["12.5", "3.5", "4.5", "5.5", "6.5", "unknown", "7.5", "8.5", "9.5", "1.5", "2.5", "missing", "n.a."],
             "gap words", "'unknown'"),
    "other gaps": (["12.5", "3.5", "4.5", "5.5", "to come"], "nearly numbers", "'to come'"),
    "gaps among dates": (
        ["2020-05-31", "2020-06-01", "2020-07-01", "2020-08-09", "unknown"], "gap words", "'unknown'",
    ),
    "other gaps among dates": (
        ["2020-05-31", "2020-06-01", "2020-07-01", "2020-08-09", "soon"], "nearly dates", "'soon'",
    ),
    "a long cell": (["a", "b", "a", "b", "z" * 200_000], "unseen category", f"'{'z' * 30}…' (200,000"),
    "nothing": ([""], "empty", "'x'"),
    "one value": (["7"], "constant", "(7)"),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "code", "fact"), CELLS.values(), ids=CELLS.keys())
def test_notes_are_in_json_and_on_stderr(run: Run, tmp_path: Path, cells: list[str], code: str, fact: str) -> None:
    # The long cell stands in one row alone, which the seed gives to the bound part.
    lines = [cells[i % len(cells)] if len(cells[i % len(cells)]) < 99 or i == 4 else "a" for i in range(40)]
    (tmp_path / "t.csv").write_text("x,z,y\n" + "".join(f'"{cell}",{i % 7},{i % 2}\n' for i, cell in enumerate(lines)))
    options = ["--target", "y", "-o", tmp_path / "m.abnet", *QUICK]
    result = run("fit", tmp_path / "t.csv", *options, "--json")
    record = json.loads(result.stdout)
    assert any(note["code"] == code and fact in note["text"] for note in record["note_data"])
    assert result.stderr.splitlines() == [f"note: {note}" for note in record["notes"]]


SHOWN = {
    "month first": (["05/31/20", "06/01/20", "07/04/19"], r"date \(month/day/year\b.*\btwo digits"),
    "months": (["2020-05", "2020-06", "2019-11"], r"date \(year-month\)"),
    "names of months": (["05-Jan-2020", "07-Feb-2020", "31-Dec-2019"], r"date \(day\b.*\bname\b.*\bmonth\b.*\byear\)"),
    "large": ([str(-(2**60) - i * i) for i in range(40)], r"numeric\b.*\b1 feature"),
}


@pytest.mark.parametrize(("cells", "kind"), SHOWN.values(), ids=SHOWN.keys())
def test_inspect_names_what_was_read(run: Run, tmp_path: Path, cells: list[str], kind: str) -> None:
    rows = "".join(f"{cells[i % len(cells)]}|{i % 7}|{i % 2}\n" for i in range(40))  # the separator is found
    (tmp_path / "t.csv").write_text("when|z|y\n" + rows)
    options = ["--target", "y", "-o", tmp_path / "m.abnet", *QUICK]
    run("fit", tmp_path / "t.csv", *options)
    columns = json.loads(run("inspect", tmp_path / "m.abnet", "--json").stdout)["columns"]
    assert re.match(f"when: {kind}", columns[0])


def test_names_that_differ_in_every_row_and_counts_of_rows_are_left_out(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i + 1},person-{i},{i % 7},{i % 2}\n" for i in range(80))
    (tmp_path / "t.csv").write_text("number,name,z,y\n" + rows)
    options = ["--target", "y", "-o", tmp_path / "m.abnet", *QUICK]
    record = json.loads(run("fit", tmp_path / "t.csv", *options, "--json").stdout)
    (line,) = record["notes"]  # of both columns
    assert "'number'" in line
    assert "'name'" in line
    assert [(note["code"], note["columns"], note["severity"]) for note in record["note_data"]] == [
        ("identifier", ["number"], "leak"), ("identifier", ["name"], "leak"),
    ]  # fmt: skip
    result = run("fit", tmp_path / "t.csv", *options, "--notes", "all")
    assert ["--use number" in line for line in result.stderr.splitlines()] == [True, False]
    assert "identifier" in run("inspect", tmp_path / "m.abnet").stdout
    used = json.loads(run("fit", tmp_path / "t.csv", *options, "--json", "--use", "number", "--use", "name").stdout)
    assert [note["code"] for note in used["note_data"]] == ["hashed"]


@pytest.mark.parametrize("labels", [["1", "0"], ["1.0", "0"], ["1", "0.00"]], ids=str)
def test_labels_that_are_one_number(run: Run, tmp_path: Path, labels: list[str]) -> None:
    rows = "".join(f"{i % 7},{labels[i % 2] if i % 3 else i % 2 ^ 1}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    options = ["--target", "y", "-o", tmp_path / "m.abnet", *QUICK]
    record = json.loads(run("fit", tmp_path / "t.csv", *options, "--json").stdout)
    assert record["classes"] == ["0", "1"]
    codes = {note["code"] for note in record["note_data"]}
    assert ("one number" in codes) == (labels != ["1", "0"])


def test_the_training_file_can_always_be_predicted(run: Run, tmp_path: Path) -> None:
    """Categories that only the bound rows hold are unknown, in the certificate as in the prediction."""
    rows = [f"{'abcdefghij'[i % 10]}{i if i % 9 == 0 else ''},{i % 5},{i % 2}" for i in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["city,x,y", *rows, ""]))
    options = ["--target", "y", "-o", tmp_path / "m.abnet", *QUICK]
    run("fit", tmp_path / "t.csv", *options)
    assert len(run("predict", tmp_path / "m.abnet", tmp_path / "t.csv").stdout.splitlines()) == 91
