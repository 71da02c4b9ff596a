"""`abnet explain`: rows and models, in text, JSON, CSV and figures."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet.model.file import save
from cli.tables import Failure, Run, refused_as_input
from export.models import model as exported


def described(run: Run, *arguments: object) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(run("explain", *arguments, "--json").stdout)
    return record


def test_a_row_adds_up_to_its_probability(run: Run, model: Path, table: Path) -> None:
    found = described(run, model, table, "--row", 3)
    (row,) = found["explained"]["rows"]
    assert row["row"] == 3
    assert row["base"] + sum(row["contributions"]) == pytest.approx(row["value"], abs=1e-10)
    assert len(row["cells"]) == len(found["explained"]["columns"])
    assert found["model"] is None
    text = run("explain", model, table, "--row", 3).stdout
    assert text.startswith("Row 3: predicted ")
    assert "Regions" in text
    assert f"{100 * max(row['value'], 1 - row['value']):.1f}%" in text  # of the predicted class


def test_cells_are_those_of_the_file(run: Run, model: Path, table: Path) -> None:
    found = described(run, model, table, "--rows", "2-3")["explained"]
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for row, line in zip(found["rows"], lines[1:3], strict=True):
        assert row["cells"] == [line[name].strip() for name in found["columns"]]


def test_the_model_as_a_whole(run: Run, model: Path, table: Path) -> None:
    found = described(run, model, table)
    whole = found["model"]
    assert found["explained"] is None
    assert whole["error"] is not None
    assert whole["regions"]["listed"]
    text = run("explain", model, table).stdout
    for column in whole["importance"]:
        assert column["column"] in text


def test_contributions_as_csv(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "why.csv"
    result = run("explain", model, table, "--rows", "1-4", "--output", output)
    assert "4 rows" in result.stdout
    with output.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    predictor = abnet.load(model)
    for number in range(1, 5):
        total = sum(float(line["contribution"]) for line in lines if line["row"] == str(number))
        row = described(run, model, table, "--row", number)["explained"]["rows"][0]
        assert total == pytest.approx(row["value"], abs=1e-10)
        assert {line["prediction"] for line in lines if line["row"] == str(number)} == {row["label"]}
    assert {line["prediction"] for line in lines} <= set(map(str, predictor.classes_))


def test_figures(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    run("explain", model, table, "--row", 1, "--plots", tmp_path / "a" / "b")
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {
        f"row-1-{what}.{end}" for what in ("columns", "regions") for end in ("png", "svg")
    }
    found = described(run, model, table, "--plots", tmp_path / "whole")
    assert {Path(name).stem for name in found["figures"]} >= {"importance", "beeswarm", "regions"}
    assert all(Path(name).stat().st_size > 1000 for name in found["figures"])


def test_a_background_of_ones_own(run: Run, model: Path, table: Path) -> None:
    kept = described(run, model, table, "--row", 1)["explained"]["rows"][0]
    own = described(run, model, table, "--row", 1, "--background", table)["explained"]["rows"][0]
    assert kept["score"] == own["score"]
    assert kept["base"] != own["base"]


def test_a_model_without_rows_takes_those_of_the_table(run: Run, tmp_path: Path) -> None:
    """An array model of two columns, saved without a background, asked with a table."""
    save(exported("mixture", 2, feature_names=("a", "b")), tmp_path / "m.abnet")
    rows = "\n".join(f"{x:.3f},{y:.3f}" for x, y in np.random.default_rng(0).normal(size=(40, 2)))
    (tmp_path / "t.csv").write_text(f"b,a\n{rows}\n")
    result = run("explain", tmp_path / "m.abnet", tmp_path / "t.csv")
    assert "--background" in result.stderr
    row = described(run, tmp_path / "m.abnet", tmp_path / "t.csv", "--row", 40)["explained"]["rows"][0]
    assert row["cells"] == rows.splitlines()[-1].split(",")[::-1]


def test_a_model_that_kept_no_rows(run: Run, table: Path, tmp_path: Path) -> None:
    from cli.tables import SMALL

    path = tmp_path / "bare.abnet"
    result = run("fit", table, "--target", "mood today", "--output", path, "--no-background", *SMALL)
    assert "--no-background" not in result.stdout
    assert abnet.load(path).card.background == ()


def test_fit_says_that_rows_are_kept(fitted: dict[str, Any], model: Path, run: Run) -> None:
    assert fitted["n_background"] == len(abnet.load(model).card.background) > 0
    assert f"{fitted['n_background']} " in run("inspect", model).stdout


WRONG: dict[str, tuple[list[str], list[str]]] = {
    "no such row": (["--row", "100000"], ["row 100000 "]),
    "row 0": (["--row", "0"], ["row 0 "]),
    "no numbers": (["--rows", "first"], ["--rows", "first"]),
    "too many to draw": (["--rows", "1-51", "--plots", "figures"], ["51"]),
    "both": (["--row", "1", "--rows", "2"], ["--row ", "--rows"]),
    "backwards": (["--rows", "5-2"], ["--rows", "5-2", "2-5"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_told(name: str, model: Path, table: Path, failure: Failure) -> None:
    options, facts = WRONG[name]
    failure("explain", model, table, *options, code=2, naming=facts)


def test_the_table_is_not_overwritten(model: Path, table: Path, failure: Failure) -> None:
    assert refused_as_input(failure("explain", model, table, "--output", table, code=2))
