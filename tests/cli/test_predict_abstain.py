"""`abnet predict` applies the decision that was certified: rows that the model is not sure enough of are empty."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import abnet
from abnet.certificates.decision import Decision
from abnet.model.file import save
from cli.tables import Run

THRESHOLD = 0.1


@pytest.fixture
def careful(model: Path, tmp_path: Path) -> Path:
    """The model with a threshold that some rows of the table pass."""
    decision = Decision(kind="abstain", threshold=THRESHOLD)
    save(replace(abnet.load(model), decision=decision, certificate=None), tmp_path / "careful.abnet")
    return tmp_path / "careful.abnet"


def test_unsure_rows_are_empty(run: Run, careful: Path, table: Path, tmp_path: Path) -> None:
    shares = [float(row["probability_good"]) for row in csv.DictReader(io.StringIO(run(
        "predict", careful, table, "--proba").stdout))]  # fmt: skip
    sure = [abs(2.0 * share - 1.0) > THRESHOLD for share in shares]
    assert 0 < sum(sure) < 60
    rows = list(csv.DictReader(io.StringIO(run("predict", careful, table).stdout)))
    assert [row["prediction"] != "" for row in rows] == sure
    objects = [json.loads(line) for line in run("predict", careful, table, "--json").stdout.splitlines()]
    assert [row["prediction"] is not None for row in objects] == sure
    counts = run("predict", careful, table, "--output", tmp_path / "out.csv").stdout.split(": ")
    assert any(part.startswith(f"{60 - sum(sure)}") for part in counts)
    assert abnet.predict_table(careful, table).counts["(no answer)"] == 60 - sum(sure)


def test_the_vote_answers_every_row(run: Run, model: Path, careful: Path, table: Path) -> None:
    assert run("predict", careful, table, "--vote").stdout == run("predict", model, table).stdout
    assert f"{THRESHOLD}" in run("inspect", careful).stdout
