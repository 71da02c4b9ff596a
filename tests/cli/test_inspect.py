import json
import re
from pathlib import Path
from typing import Any

import abnet
from abnet.model.digest import model_digest
from abnet.model.file import save
from abnet.model.summary import InspectedFile
from cli.tables import Failure, Run
from model.every_kind import ALL, drawn_certificate
from model.every_kind import model as stored


def test_everything_is_shown(run: Run, model: Path, fitted: dict[str, Any]) -> None:
    text = run("inspect", model).stdout
    assert "table" in text
    inputs = abnet.load(model).n_inputs
    flat = " ".join(text.split())
    assert f"{inputs} inputs" in flat
    assert f"W 1 x 2 x {inputs}, b 1 x 2, H 1 x 4" in flat
    assert "seed 1" in flat
    assert re.search(r"classes good\b.*\bnot so good", flat)
    assert "{" not in text  # for people, not for Python
    assert max(map(len, text.splitlines())) <= 80
    assert "size, cm: numeric, " in text
    assert "constant (Norway)" in text
    assert f"fingerprint {fitted['card']['data_fingerprint']}" in flat
    assert abnet.load(model).certificate_.describe() in text  # type: ignore[union-attr]
    assert "target mood today" in flat


def test_the_record_is_complete(run: Run, model: Path, fitted: dict[str, Any]) -> None:
    record = json.loads(run("inspect", model, "--json").stdout)
    assert record["certificate"] == fitted["certificate"]
    assert record["card"] == fitted["card"]
    assert record["preparation"]["kind"] == "table"
    assert record["bytes"] == model.stat().st_size


def test_columns_that_are_read_alike_share_a_line() -> None:
    alike = InspectedFile("m", 1, "model", None, None, (("a", "numeric"), ("b", "text"), ("c", "numeric")), ("note",))
    lines = alike.column_lines()
    assert len(lines) == 3
    assert all(part in lines[0] for part in ("2 columns", "numeric", "a, c"))
    assert lines[1:] == ["b: text", "note"]


def test_every_kind_of_model_is_shown(run: Run, tmp_path: Path) -> None:
    for kind in ALL:
        save(stored(kind, certificate=None), tmp_path / "model.abnet")
        text = run("inspect", tmp_path / "model.abnet").stdout
        assert kind.partition(":")[0] in text
        assert json.loads(run("inspect", tmp_path / "model.abnet", "--json").stdout)["certificate"] is None
        assert "höhe" in text


def test_a_drawn_network_is_shown_with_its_certificate(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "drawn.abnet"
    save(stored("layers"), path)
    text = run("inspect", path).stdout
    certificate = drawn_certificate()
    assert certificate.describe() in text
    record = json.loads(run("inspect", path, "--json").stdout)["certificate"]
    assert record == {**certificate.to_dict(), "model": model_digest(stored("layers"))}


def test_a_certificate_and_its_model_are_told_from_others(
    run: Run, failure: Failure, model: Path, tmp_path: Path
) -> None:
    fitted = abnet.load(model)
    saved = tmp_path / "certificate.json"
    other = tmp_path / "other.abnet"
    assert fitted.certificate is not None
    fitted.certificate.save(saved)
    assert model_digest(fitted) in run("inspect", saved).stderr
    assert model_digest(fitted) in run("inspect", model).stdout
    assert str(model) in " ".join(run("inspect", saved, "--model", model).stderr.split())
    save(stored("layers"), other)
    message = failure("inspect", saved, "--model", other)
    assert all(str(part) in message for part in (saved, other, model_digest(fitted), model_digest(stored("layers"))))
    drawn_certificate().save(saved)
    assert str(saved) in failure("inspect", saved, "--model", model)


def test_a_damaged_model_is_one_line(failure: Failure, model: Path, tmp_path: Path) -> None:
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    (tmp_path / "damaged.abnet").write_bytes(bytes(content))
    failure("inspect", tmp_path / "damaged.abnet", naming=["damaged.abnet", "checksum"])
