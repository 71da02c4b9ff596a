"""The command line with three classes: fit, predict, inspect, certify, compare."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet.bounds import clopper_pearson_bound
from cli.tables import Failure, Run

KINDS = ("hare", "owl", "toad")
WAY = ["--hidden-layer-sizes", "4", "--max-iter", "20", "--quiet"]


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    lines = ["speed,weight,flies,animal"]
    for i in range(150):
        kind = i % 3
        speed = rng.normal((9, 5, 1)[kind])
        weight = rng.normal((4, 2, 1)[kind])
        lines.append(f"{speed:.3f},{weight:.3f},{'yes' if kind == 1 else 'no'},{KINDS[kind]}")
    path = tmp_path_factory.mktemp("animals") / "animals.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def model(animals: Path, run: Run) -> Path:
    path = animals.with_suffix(".abnet")
    text = run("fit", animals, "--target", "animal", "--output", path, *WAY).stdout
    for kind in KINDS:
        assert kind in text
    return path


def truth_of(table: Path) -> list[str]:
    return [row["animal"] for row in csv.DictReader(io.StringIO(table.read_text()))]


def test_labels_and_probabilities(run: Run, model: Path, animals: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("predict", model, animals, "--proba").stdout)))
    assert list(rows[0]) == ["prediction", *(f"probability_{kind}" for kind in KINDS)]
    for row in rows:
        chances = [float(row[f"probability_{kind}"]) for kind in KINDS]
        assert sum(chances) == pytest.approx(1)
        assert row["prediction"] == KINDS[int(np.argmax(chances))]
    assert np.mean([row["prediction"] != kind for row, kind in zip(rows, truth_of(animals), strict=True)]) < 0.2


def test_certify_counts_and_refuses_rows_of_the_fit(
    run: Run, failure: Failure, model: Path, animals: Path, tmp_path: Path
) -> None:
    failure("certify", model, animals, "--confusion", naming=["of 150 rows", "--allow-training-rows"])
    fresh = tmp_path / "fresh.csv"
    text = animals.read_text()
    fresh.write_text(re.sub(r"(\.\d+),", r"\g<1>1,", text))
    record = json.loads(run("certify", model, fresh, "--confusion", "--json").stdout)
    assert record["confusion"]["facts"]["class_rows"] == [50, 50, 50]
    wrong = sum(record["confusion"]["facts"]["class_errors"])
    assert record["certificate"]["vote_error_bound"] == clopper_pearson_bound(wrong, 150)


def test_compare_has_all_models_that_can(run: Run, animals: Path) -> None:
    record: dict[str, Any] = json.loads(run("compare", animals, "--target", "animal", "--json", *WAY).stdout)
    found = {contender["name"]: contender for contender in record["contenders"]}
    for name in ("ABNet", "random forest", "gradient boosting", "logistic regression", "majority rule"):
        assert found[name]["note"] == ""
        assert 0 < found[name]["bound"] <= 1
    assert found["ABNet"]["test_error"] < 0.3
    assert found["majority rule"]["test_error"] > 0.5


@pytest.mark.parametrize("name", ["EBPClassifier", "BNNClassifier"])
def test_baselines_predict_from_their_file(name: str, run: Run, animals: Path, tmp_path: Path) -> None:
    import pandas as pd

    X = pd.read_csv(animals)[["speed", "weight"]]
    path = tmp_path / "model.abnet"
    fitted = getattr(abnet, name)((4,), max_iter=3, random_state=0).fit(X, truth_of(animals))
    fitted.save(path)
    assert run("predict", path, animals).stdout.splitlines()[1:] == fitted.predict(X).tolist()
