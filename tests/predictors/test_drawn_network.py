"""The drawn network as a predictor: its output, and its certificate, which survives a file but no forgery."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet.files import save
from abnet.predictors.drawn_network import DrawnNetwork
from conftest import random_network
from files.predictors import drawn_certificate, information, parts, predictor, rewrite_config, rows


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.abnet"
    save(predictor("drawn network"), path)
    return path


@pytest.mark.parametrize("sizes", [(3, 1), (3, 4, 1), (3, 50, 40, 30, 1)], ids=str)
def test_it_is_the_sign_network_of_any_depth_and_width(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    network, X = random_network(rng, sizes), rng.normal(size=(2000, 3)).astype(np.float32)
    signal = X.astype(np.float64)
    for W, b in zip(network.weights, network.biases, strict=True):
        signal = np.where(signal @ W.T + b >= 0, 1.0, -1.0)
    np.testing.assert_array_equal(DrawnNetwork(network).decision_function(X), signal[:, 0])


@pytest.mark.parametrize("sizes", [(3, 2, 1), (3, 50, 40, 1)], ids=str)
def test_it_comes_back_with_its_certificate(sizes: tuple[int, ...], rng: np.random.Generator, tmp_path: Path) -> None:
    before = DrawnNetwork(random_network(rng, sizes), info=information(certificate=drawn_certificate()))
    save(before, tmp_path / "drawn.abnet")
    after = abnet.load(tmp_path / "drawn.abnet")
    assert isinstance(after, DrawnNetwork)
    assert after.certificate == after.certificate_ == drawn_certificate()
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()
    assert after.predict(rows()).tolist() == before.predict(rows()).tolist()


def record(model: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(parts(model)[1]["config"])["certificate"]
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"value": 0.06}, {"value": True}, {"value": None}, {"delta": 0.5}, {"n_candidates": 1},
        {"method": "clopper_pearson_bound"}, {"method": "none"},
        {"counted": {"errors": 2, "n": 50, "log_density_ratio": -1.5}},
        {"counted": {"errors": 3, "n": 500, "log_density_ratio": -1.5}},
        {"counted": {"errors": 3, "n": 50, "log_density_ratio": -40.0}}, {"counted": {"errors": 3}}, {"unknown": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_certificate_cannot_claim_more_than_it_observed(model: Path, change: dict[str, Any]) -> None:
    claimed = record(model)
    (statement,) = claimed["statements"]
    rewrite_config(model, certificate={**claimed, "statements": [{**statement, **change}]})
    with pytest.raises(ValueError, match="not a valid model file"):
        abnet.load(model)


@pytest.mark.parametrize("name", ["vote_error_bound", "statements", "delta", "facts"])
def test_a_certificate_must_be_whole(model: Path, name: str) -> None:
    rewrite_config(model, certificate={key: value for key, value in record(model).items() if key != name})
    with pytest.raises(ValueError, match="not a valid model file"):
        abnet.load(model)


def test_another_certificate_leaves_the_network() -> None:
    before = predictor("drawn network")
    assert isinstance(before, DrawnNetwork)
    after = before.with_certificate(None)
    assert after.certificate is None
    assert after.info.details == before.info.details
    np.testing.assert_array_equal(after.predict(rows()), before.predict(rows()))
