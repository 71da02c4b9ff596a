import json
from pathlib import Path
from typing import Any

import abnet
from abnet.model.file import save
from cli.tables import Failure, Run
from model.every_kind import ALL, drawn_certificate
from model.every_kind import model as stored


def test_everything_is_shown(run: Run, model: Path, fitted: dict[str, Any]) -> None:
    text = run("inspect", model).stdout
    assert "table" in text
    inputs = abnet.load(model).n_inputs
    assert f"inputs: {inputs}; arrays: W 1 × 2 × {inputs}, b 1 × 2, H 1 × 4" in text
    assert "seed: 1" in text
    assert "classes: good or not so good" in text
    assert "size, cm: numeric, " in text
    assert "country: left out, constant (Norway)" in text
    assert f"data fingerprint: {fitted['card']['data_fingerprint']}" in text
    assert "With 95 % confidence" in text
    assert "target: mood today" in text


def test_the_record_is_complete(run: Run, model: Path, fitted: dict[str, Any]) -> None:
    record = json.loads(run("inspect", model, "--json").stdout)
    assert record["certificate"] == fitted["certificate"]
    assert record["card"] == fitted["card"]
    assert record["preparation"]["kind"] == "table"
    assert record["bytes"] == model.stat().st_size


def test_every_kind_of_model_is_shown(run: Run, tmp_path: Path) -> None:
    for kind in ALL:
        save(stored(kind, certificate=None), tmp_path / "model.abnet")
        text = run("inspect", tmp_path / "model.abnet").stdout
        assert kind.partition(":")[0] in text
        assert "no certificate" in text
        assert "höhe" in text


def test_a_drawn_network_is_shown_with_its_certificate(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "drawn.abnet"
    save(stored("layers"), path)
    text, certificate = run("inspect", path).stdout, drawn_certificate()
    assert "drawn network" in text
    assert certificate.describe() in text
    record = json.loads(run("inspect", path, "--json").stdout)["certificate"]
    assert record == {"kind": "drawn network", **certificate.to_dict(), "error_bound": certificate.error_bound}


def test_a_damaged_model_is_one_line(failure: Failure, model: Path, tmp_path: Path) -> None:
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    (tmp_path / "damaged.abnet").write_bytes(bytes(content))
    assert "damaged or altered" in failure("inspect", tmp_path / "damaged.abnet")
