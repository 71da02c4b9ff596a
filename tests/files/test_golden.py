"""Files of version 0.1 load for ever: `golden/README.md` says how they were made."""

import json
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet.bounds import verify_certificate

GOLDEN = Path(__file__).parent / "golden"
STEMS = ("table_v1", "wide_v1")


def model(stem: str) -> Any:
    return abnet.load(GOLDEN / f"{stem}.abnet")


def record(stem: str) -> dict[str, Any]:
    golden: dict[str, Any] = json.loads((GOLDEN / f"{stem}.json").read_text(encoding="utf-8"))
    return golden


def rows(golden: dict[str, Any]) -> Any:
    """A frame of text, cell for cell as in the CSV, or an array."""
    if "table" in golden:
        return pd.read_csv(StringIO(golden["table"]), dtype=str, keep_default_na=False)
    return np.array(golden["rows"])


def differences(then: Any, now: Any, where: str) -> Iterator[str]:
    """Places of what was recorded then and is another now; new keys and other words are no difference."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key, value in then.items():
            yield from differences(value, now[key], f"{where}.{key}") if key in now else [f"{where} lacks {key}"]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, value in enumerate(then):
            yield from differences(value, now[i], f"{where}[{i}]")
    elif not (then == now or (isinstance(then, str) and isinstance(now, str))):
        yield f"{where}: {then!r} was, {now!r} is"


@pytest.mark.parametrize("stem", STEMS)
def test_labels_are_those_of_old(stem: str) -> None:
    golden = record(stem)
    assert model(stem).predict(rows(golden)).tolist() == golden["labels"]


@pytest.mark.parametrize("stem", STEMS)
def test_scores_are_those_of_old(stem: str) -> None:
    golden = record(stem)
    np.testing.assert_allclose(model(stem).decision_function(rows(golden)), golden["scores"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("stem", STEMS)
def test_the_certificate_is_that_of_old(stem: str) -> None:
    then, certificate = record(stem)["certificate"], model(stem).certificate_
    for place, part in enumerate(then["per_class"]):
        part["label"] = {-1: 0, 1: 1}[part["label"]]  # signs then, places now
        assert part["label"] == place
    now = certificate.to_dict()
    assert list(differences(then, now, "certificate")) == []
    assert now["class_names"] == then["class_names"]
    verify_certificate(certificate)


def test_differences_are_found() -> None:
    then = {"bound": 0.1, "method": "old name", "parts": [{"errors": 3}, {"errors": None}]}
    now = {"bound": 0.1, "method": "new name", "parts": [{"errors": 3}, {"errors": None}], "further": 1}
    assert list(differences(then, now, "c")) == []
    assert list(differences(then, {**now, "bound": 0.2}, "c")) == ["c.bound: 0.1 was, 0.2 is"]
    assert list(differences(then, {**now, "parts": [{"errors": 4}, {}]}, "c")) == [
        "c.parts[0].errors: 3 was, 4 is",
        "c.parts[1] lacks errors",
    ]


def test_the_command_line_predicts_with_it(tmp_path: Path) -> None:
    golden = record("table_v1")
    table, output = tmp_path / "new.csv", tmp_path / "predictions.csv"
    table.write_text(golden["table"], encoding="utf-8")
    command = ["-m", "abnet", "predict", GOLDEN / "table_v1.abnet", table, "--output", output]
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert output.read_text(encoding="utf-8").splitlines() == ["prediction", *golden["labels"]]
