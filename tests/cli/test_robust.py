"""`abnet robust`: rows under a tolerance, in text, JSON and CSV."""

import csv
import json
from pathlib import Path

import pytest

import abnet
from abnet.utils.wording import percent_up
from cli.tables import Failure, Run, csv_text


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Rows like those of the fit, none of them one of its rows."""
    path = tmp_path / "fresh.csv"
    path.write_text(csv_text(seed=1))
    return path


def test_rows_and_certificate(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    output = tmp_path / "robust.csv"
    options = ["--tolerance", "size, cm=0.3", "--free", "city", "--output", output]
    record = json.loads(run("robust", model, fresh, *options, "--json").stdout)
    assert record["robust"] + record["flipped"] + record["open"] == 60
    assert record["flipped"] > 0
    statement = record["certificate"]["statements"][0]
    wrong = sum(row["answer"] != label for row, label in zip(record["rows"], moods(fresh), strict=True))
    assert statement["errors"] == wrong
    assert statement["errors"] + statement["unproved"] >= record["flipped"]
    with output.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["verdict"] for line in lines] == [row["verdict"] for row in record["rows"]]
    made = abnet.robust_table(model, fresh, tolerance={"size, cm": 0.3}, free=["city"])
    assert made.to_dict()["rows"] == record["rows"]
    text = run("robust", model, fresh, *options).stdout
    assert percent_up(statement["value"]) in text


def test_the_certificate_is_saved_for_a_report(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    saved = tmp_path / "tolerance.json"
    options = ["--tolerance", "size, cm=0.3", "--save", saved]
    record = json.loads(run("robust", model, fresh, *options, "--json").stdout)
    assert abnet.load_certificate(saved).to_dict() == record["certificate"]
    page = tmp_path / "page.html"
    run("report", model, "--certificate", saved, "--output", page, "--no-form")
    assert 'id="certificate-1"' in page.read_text()


def test_there_is_no_certificate_to_save_without_labels(
    failure: Failure, model: Path, fresh: Path, tmp_path: Path
) -> None:
    path = tmp_path / "unlabelled.csv"
    path.write_text("\n".join(line.rsplit(",", 1)[0] for line in fresh.read_text().splitlines()))
    saved = tmp_path / "tolerance.json"
    assert "--save" in failure("robust", model, path, "--tolerance", "*=10%sd", "--save", saved, code=2)
    assert not saved.exists()


def moods(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [line["mood today"] for line in csv.DictReader(file)]


def test_rows_without_labels_have_no_certificate(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    path = tmp_path / "unlabelled.csv"
    lines = [line.rsplit(",", 1)[0] for line in fresh.read_text().splitlines()]
    path.write_text("\n".join(lines))
    record = json.loads(run("robust", model, path, "--tolerance", "*=10%sd", "--json").stdout)
    assert record["certificate"] is None
    assert len(record["rows"]) == 60


def test_rows_of_the_fit_are_refused(failure: Failure, model: Path, table: Path) -> None:
    failure("robust", model, table, "--tolerance", "*=1%sd", naming=["of 60 rows"])


@pytest.mark.parametrize(("options", "said"), [
    (["--tolerance", "*=much"], "much"),
    (["--tolerance", "sizes=1"], "sizes"),
    (["--free", "size, cm"], "size, cm"),
])  # fmt: skip
def test_mistakes_are_named(
    failure: Failure, run: Run, model: Path, fresh: Path, options: list[str], said: str
) -> None:
    result = run("robust", model, fresh, *options, code=2 if "--tolerance" in options else 1)
    assert said in result.stderr
