"""`abnet predict --abstain` leaves rows empty that the model is not sure enough of."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import abnet
from abnet.certificates.decision import Decision
from abnet.model.file import save
from cli.tables import Failure, Run


@pytest.fixture
def careful(model: Path, tmp_path: Path) -> tuple[Path, float]:
    """The model with the record of a certified threshold, which some rows of the table pass."""
    predictor: Any = abnet.load(model)
    decision = Decision(kind="abstain", threshold=0.1)
    card = msgspec.structs.replace(predictor.card, decisions={"abstention": decision})
    save(replace(predictor, card=card), tmp_path / "careful.abnet")
    return tmp_path / "careful.abnet", 0.1


def test_unsure_rows_are_empty(run: Run, careful: tuple[Path, float], table: Path, tmp_path: Path) -> None:
    path, threshold = careful
    shares = [float(row["probability_good"]) for row in csv.DictReader(io.StringIO(run(
        "predict", path, table, "--proba").stdout))]  # fmt: skip
    sure = [abs(2.0 * share - 1.0) > threshold for share in shares]
    assert 0 < sum(sure) < 60
    rows = list(csv.DictReader(io.StringIO(run("predict", path, table, "--abstain").stdout)))
    assert [row["prediction"] != "" for row in rows] == sure
    objects = [json.loads(line) for line in run("predict", path, table, "--abstain", "--json").stdout.splitlines()]
    assert [row["prediction"] is not None for row in objects] == sure
    text = run("predict", path, table, "--abstain", "--output", tmp_path / "out.csv").stdout
    assert f"(no answer): {60 - sum(sure)}" in text


def test_a_model_without_a_target_cannot_abstain(failure: Failure, model: Path, table: Path) -> None:
    assert "fitted without a target error" in failure("predict", model, table, "--abstain")


def test_silence_is_explained(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    """Where nothing could be certified no row is answered, and it is said why."""
    predictor: Any = abnet.load(model)
    card = msgspec.structs.replace(predictor.card, decisions={"abstention": None})
    save(replace(predictor, card=card), tmp_path / "silent.abnet")
    result = run("predict", tmp_path / "silent.abnet", table, "--abstain")
    assert set(result.stdout.split("\n")[1:-1]) == {'""'}
    assert "note: no row is answered" in result.stderr
    assert "no row is answered" not in run("predict", tmp_path / "silent.abnet", table).stderr
