"""Files put one after the other: their headers are no rows, in any command."""

import json
import re
from pathlib import Path

import pytest

from cli.tables import ROWS, TWO, Run, cells, csv_text


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    path = tmp_path / "twice.csv"
    path.write_text(csv_text() + csv_text())
    return path


@pytest.mark.parametrize("options", [[], ["--max-learn-rows", "60"]], ids=["in memory", "streamed"])
def test_fit(twice: Path, run: Run, tmp_path: Path, options: list[str]) -> None:
    output = tmp_path / "m.abnet"
    record = json.loads(run("fit", twice, "--target", "mood today", "-o", output, "--json", *TWO, *options).stdout)
    assert record["classes"] == ["good", "not so good"]
    assert record["n_rows"] == 2 * ROWS
    (note,) = (note for note in record["note_data"] if note["code"] == "repeated header")
    assert (note["rows"], note["facts"]["line"]) == (1, csv_text().count("\n") + 1)


def test_predict(twice: Path, table: Path, model: Path, run: Run) -> None:
    once = run("predict", model, table)
    result = run("predict", model, twice)
    header, *labels = once.stdout.splitlines()
    assert result.stdout.splitlines() == [header, *labels, *labels]
    assert re.search(rf"\b1 row\b.*\bline {csv_text().count(chr(10)) + 1}\b", result.stderr)


def test_certify(model: Path, run: Run, tmp_path: Path) -> None:
    header, rows = cells()
    fresh = [[f"{i / 7 - 4:.3f}", *row[1:]] for i, row in enumerate(rows)]  # rows that the model has not seen
    lines = [",".join(f'"{cell}"' for cell in row) for row in (header, *fresh, header)]
    (tmp_path / "fresh.csv").write_text("\n".join(lines))
    record = json.loads(run("certify", model, tmp_path / "fresh.csv", "--json").stdout)
    assert record["certificate"]["facts"]["n_rows"] == ROWS
    assert any(re.search(rf"\b1 row\b.*\bline {ROWS + 2}\b", note) for note in record["notes"])
