import json
from pathlib import Path

import numpy as np
import pytest

from abnet.paper import load
from abnet.tables import read_table
from cli.tables import Failure, Run


def test_names_are_listed(run: Run) -> None:
    (line,) = [line for line in run("data").stdout.splitlines() if "adult.data" in line]
    assert "adult.test" in line
    found = json.loads(run("data", "--json").stdout)
    assert set(found) <= set(run("data").stdout.split())  # a name that is cut short cannot be typed
    assert found["circles"] == []
    assert found["adult"] == ["adult.data", "adult.test"]


def test_a_data_set_is_written_exactly(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "circles.csv"
    assert "1,000 rows, 2 columns" in run("data", "circles", "--output", output).stdout
    frame = read_table(output)
    dataset = load("circles")
    assert np.array_equal(frame[["x", "y"]].to_numpy().astype(np.float32), dataset.X)
    assert frame["label"].to_list() == [dataset.classes[int(y > 0)] for y in dataset.y]


def test_a_data_set_is_described(run: Run) -> None:
    assert json.loads(run("data", "digits17", "--json").stdout)["n_rows"] == 361


def test_errors_are_one_line(failure: Failure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ABNET_DATA", raising=False)
    message = failure("data", "circle", code=2, naming=["'circle'"])
    assert message.index("'circles'") < message.index("digits")  # the likely name first, then all
    failure(
        "data", "adult", "--data-dir", tmp_path,
        naming=["'adult'", "adult.data", "adult.test", "--data-dir", "ABNET_DATA", "--download"],
    )  # fmt: skip
