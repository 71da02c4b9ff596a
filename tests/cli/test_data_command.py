import json
from pathlib import Path

import numpy as np
import pytest

from abnet.paper import load
from abnet.tables import read_table
from cli.tables import Failure, Run


def test_names_are_listed(run: Run) -> None:
    assert "adult.data, adult.test" in run("data").stdout
    assert json.loads(run("data", "--json").stdout)["circles"] == []


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
    assert "Did you mean 'circles'" in failure("data", "circle", code=2)
    message = failure("data", "adult", "--data-dir", tmp_path)
    assert "data set 'adult' needs adult.data, adult.test" in message
    assert "name their folder by --data-dir or ABNET_DATA" in message
    assert message.endswith("with --download.")
