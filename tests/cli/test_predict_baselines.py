"""Prediction from the command line with a model file of every method."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet import BinaryConnectClassifier, BNNClassifier, EBPClassifier, PBGNetClassifier
from abnet.model.model import Model
from cli.tables import Failure, Run

# In the shapes of tests/estimators/test_every_classifier.py: each new one costs a compilation.
METHODS: dict[str, Any] = {
    "EBP": EBPClassifier((2,), max_iter=3, random_state=0),
    "BinaryConnect": BinaryConnectClassifier((6,), batch_size=4, max_iter=3, random_state=0),
    "BNN": BNNClassifier((8,), batch_size=4, max_iter=3, random_state=0),
    "PBGNet": PBGNetClassifier((2,), max_iter=3, random_state=0),
}
SCORES_ONLY = ["BinaryConnect", "BNN"]
SHARES = ["EBP", "PBGNet"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)).round(3), columns=["width", "height", "depth"])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("methods")
    X = frame()
    y = np.where(X["width"] + X["depth"] > 0, "large", "small")
    for name, method in METHODS.items():
        method.fit(X, y).save(folder / f"{name}.abnet")
    return {name: folder / f"{name}.abnet" for name in METHODS}


@pytest.fixture
def new_rows(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    frame()[["depth", "width", "height"]].to_csv(path, index=False)  # in another order
    return path


def loaded(path: Path) -> Model:
    return abnet.load(path)


@pytest.mark.parametrize("name", METHODS)
def test_labels_are_those_of_the_model(name: str, run: Run, models: dict[str, Path], new_rows: Path) -> None:
    header, *labels = run("predict", models[name], new_rows).stdout.splitlines()
    assert header == "prediction"
    assert labels == loaded(models[name]).predict(frame()).tolist()
    assert set(labels) <= {"large", "small"}
    lines = run("predict", models[name], new_rows, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [{"prediction": label} for label in labels]


@pytest.mark.parametrize("name", SHARES)
def test_probabilities_are_those_of_the_model(name: str, run: Run, models: dict[str, Path], new_rows: Path) -> None:
    header, *lines = run("predict", models[name], new_rows, "--proba").stdout.splitlines()
    assert header == "prediction,probability_large,probability_small"
    found = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines])
    np.testing.assert_array_equal(found, loaded(models[name]).predict_proba(frame()))
    assert found.min() >= 0


@pytest.mark.parametrize("name", SCORES_ONLY)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_scores_are_not_passed_off_as_probabilities(
    name: str, more: list[str], failure: Failure, models: dict[str, Path], new_rows: Path, tmp_path: Path
) -> None:
    failure("predict", models[name], new_rows, "--proba", *more, naming=["probabilities"])
    output = tmp_path / "predictions.csv"
    failure("predict", models[name], new_rows, "--proba", "--output", output, *more)
    assert not output.exists()


@pytest.mark.parametrize("name", METHODS)
def test_every_model_is_shown(name: str, run: Run, models: dict[str, Path]) -> None:
    text = run("inspect", models[name]).stdout
    assert type(METHODS[name]).__name__ in text
    assert ("With 95% confidence" in text) == (name == "PBGNet")
