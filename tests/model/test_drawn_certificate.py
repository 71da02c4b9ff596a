"""The certificate of a drawn network survives a file but no forgery."""

import json
from pathlib import Path
from typing import Any

import pytest

import abnet
from abnet.model.file import save
from model import every_kind
from model.every_kind import drawn_certificate, parts, rewrite_config


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.abnet"
    save(every_kind.model("layers"), path)
    return path


def test_it_comes_back(model: Path) -> None:
    assert abnet.load(model).certificate == drawn_certificate()


def record(model: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(parts(model)[1]["config"])["certificate"]
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"error_bound": 0.06},
        {"error_bound": True},
        {"error_bound": None},
        {"errors": 2},
        {"n_examples": 500},
        {"log_density_ratio": -40.0},
        {"delta": 0.5},
        {"n_candidates": 1},
        {"posterior": "frozen"},
        {"kind": "Certificate"},
        {"kind": None},
        {"gibbs_risk_bound": 0.1},
    ],
    ids=str,
)
def test_a_certificate_cannot_claim_more_than_it_observed(model: Path, change: dict[str, Any]) -> None:
    rewrite_config(model, certificate={**record(model), **change})
    with pytest.raises(ValueError, match=r"not a valid model file.*(observations|certificate|Certificate|kind)"):
        abnet.load(model)


@pytest.mark.parametrize("name", ["error_bound", "errors", "delta", "kind"])
def test_a_certificate_must_be_whole(model: Path, name: str) -> None:
    rewrite_config(model, certificate={key: value for key, value in record(model).items() if key != name})
    with pytest.raises(ValueError, match="not a valid model file"):
        abnet.load(model)
