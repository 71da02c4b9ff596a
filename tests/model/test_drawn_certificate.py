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
    found = abnet.load(model).certificate
    assert found is not None
    assert (found.statements, found.facts) == (drawn_certificate().statements, drawn_certificate().facts)


def record(model: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(parts(model)[1]["config"])["certificate"]
    return found


STATEMENT: list[dict[str, Any]] = [
    {"value": 0.06}, {"value": True}, {"value": None}, {"delta": 0.5}, {"n_candidates": 1}, {"type": "error"},
    {"type": None}, {"errors": 2}, {"log_density_ratio": None}, {"further": 0.1},
]  # fmt: skip


@pytest.mark.parametrize("change", STATEMENT, ids=str)
def test_a_certificate_cannot_claim_more_than_it_observed(model: Path, change: dict[str, Any]) -> None:
    found = record(model)
    found["statements"][0] |= change
    rewrite_config(model, certificate=found)
    with pytest.raises(ValueError, match="model file"):
        abnet.load(model)


@pytest.mark.parametrize("name", ["statements", "facts"])
def test_a_certificate_must_be_whole(model: Path, name: str) -> None:
    rewrite_config(model, certificate={key: value for key, value in record(model).items() if key != name})
    with pytest.raises(ValueError, match="model file"):
        abnet.load(model)
