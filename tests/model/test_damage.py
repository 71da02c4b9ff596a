import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as pack

import abnet
from abnet.model import file
from abnet.model.file import VERSION, save
from abnet.model.model import Model
from model import every_kind
from model.every_kind import parts, rewrite, rewrite_config, rows


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.abnet"
    save(every_kind.model(), path)
    return path


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match="model file") as caught:
        abnet.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def same(one: Model, other: Model) -> bool:
    scores = [p.decision_function(rows()[:20]).tobytes() for p in (one, other)]
    return scores[0] == scores[1] and one.certificate_ == other.certificate_ and one.card == other.card


def test_every_truncation_is_refused(model: Path) -> None:
    content = model.read_bytes()
    for length in [*range(0, 40), *range(40, len(content), 37), len(content) - 1]:
        model.write_bytes(content[:length])
        refused(model)


def test_every_flipped_byte_is_refused_or_harmless(model: Path) -> None:
    content = model.read_bytes()
    original = abnet.load(model)
    generator = np.random.default_rng(0)
    positions = {
        *range(24),
        *generator.integers(0, len(content), 500).tolist(),
        *range(len(content) - 24, len(content)),
    }
    harmless = 0
    for position in sorted(positions):
        damaged = bytearray(content)
        damaged[position] ^= int(generator.integers(1, 256))
        model.write_bytes(bytes(damaged))
        try:
            loaded = abnet.load(model)
        except ValueError:
            continue
        harmless += 1  # blanks that pad the header
        assert same(loaded, original)
    assert harmless < 20


def test_every_flipped_bit_of_the_arrays_is_noticed(model: Path) -> None:
    content = model.read_bytes()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    for position in range(start, len(content), 5):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        model.write_bytes(bytes(damaged))
        assert "checksum" in refused(model)


def test_longer_files_are_refused(model: Path) -> None:
    model.write_bytes(model.read_bytes() + b"\0")
    refused(model)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 10**8, 0])
def test_headers_that_promise_too_much_cost_nothing(model: Path, length: int) -> None:
    model.write_bytes(struct.pack("<Q", length) + model.read_bytes()[8:])
    refused(model)


def test_an_oversized_header_is_not_read(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "HEADER", 100)
    assert " 100 " in refused(model)


def test_shapes_that_promise_too_much_cost_nothing(model: Path) -> None:
    for shape in ([2**60], [2**31, 2**31], [-1], [2**70]):
        header = {"W": {"dtype": "F64", "shape": shape, "data_offsets": [0, 8]}}
        text = json.dumps(header).encode()
        model.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 8)
        refused(model)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04" + b"\0" * 500, b"\x80\x04\x95" + b"x" * 300, b"a,b\n1,2\n" * 50, os.urandom(4096)],
    ids=["empty", "zip", "pickle", "csv", "noise"],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    refused(tmp_path / "other")


def test_a_safetensors_file_of_someone_else_is_refused(tmp_path: Path) -> None:
    for texts in (None, {"format": "pt"}, {"format": "np"}):
        (tmp_path / "other").write_bytes(pack({"W": np.ones((2, 2))}, texts))
        refused(tmp_path / "other")


@pytest.mark.parametrize(("step", "advice"), [(-1, "fit the model again"), (1, "install a newer abnet")])
def test_another_version_is_refused_by_both_numbers(model: Path, step: int, advice: str) -> None:
    arrays, texts = parts(model)
    other = str(int(VERSION) + step)
    rewrite(model, arrays, {**texts, "format_version": other})
    message = refused(model)
    assert advice in message
    assert repr(other) in message
    assert repr(VERSION) in message


def test_further_metadata_is_refused(model: Path) -> None:
    arrays, texts = parts(model)
    rewrite(model, arrays, {**texts, "extra": "x"})
    assert "config, extra, format, format_version, sha256" in refused(model)
    rewrite(model, arrays, {key: text for key, text in texts.items() if key != "sha256"}, sign=False)
    assert "config, format, format_version" in refused(model)


def alterations(arrays: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "missing": {name: array for name, array in arrays.items() if name != "b"},
        "unknown": {**arrays, "extra": np.ones(2)},
        "too wide": {**arrays, "W": np.ones((1, 4, 3))},
        "flat": {**arrays, "W": np.ones(3)},
        "no members": {**arrays, "W": np.ones((0, 3, 3))},
        "no inputs": {**arrays, "W": np.ones((1, 3, 0))},
        "no units": {**arrays, "W": np.ones((1, 0, 3))},
        "enormous": {**arrays, "W": np.ones((1, 10_000, 1)), "b": np.ones((1, 10_000))},
        "no float": {**arrays, "W": arrays["W"].astype(np.int32)},
        "whole numbers": {**arrays, "b": arrays["b"].astype(np.int64)},
        "half": {**arrays, "b": arrays["b"].astype(np.float16)},
        "not finite": {**arrays, "W": arrays["W"] * np.nan},
        "infinite": {**arrays, "b": arrays["b"] + np.inf},
        "other table": {**arrays, "H": np.concatenate([arrays["H"]] * 2)},
        "other rank": {**arrays, "H": arrays["H"][:, :, None]},
        "out of range": {**arrays, "H": arrays["H"] + 5},
    }


def test_arrays_of_another_shape_type_or_range_are_refused(model: Path) -> None:
    arrays, texts = parts(model)
    for name, altered in alterations(arrays).items():
        rewrite(model, altered, texts)
        assert "array" in refused(model), name


ALTERED: dict[str, dict[str, Any]] = {
    "unknown kind": {"kind": "os:system"},
    "kind of another type": {"kind": ["table"]},
    "other kind": {"kind": "layers"},
    "missing key": {"card": ...},
    "unknown key": {"code": "import os"},
    "labels": {"labels": {"dtype": "<U3", "values": ["no", 1]}},
    "long labels": {"labels": {"dtype": "<U3", "values": ["no", "yesterday"]}},
    "label overflow": {"labels": {"dtype": "|i1", "values": [0, 300]}},
    "enormous labels": {"labels": {"dtype": "<U999999999", "values": ["no", "yes"]}},
    "labels with code": {"labels": {"dtype": "|V8", "values": [0, 1]}},
    "label keys": {"labels": {"dtype": "<i8"}},
    "names": {"feature_names": ["a", "b", 3]},
    "number of names": {"feature_names": ["a"]},
    "card": {"card": [1]},
    "unknown field of the card": {"card": {"code": "import os"}},
    "card of other types": {"card": {"seed": "seven"}},
    "decision": {"decision": {"kind": "cut"}},
    "decision of another kind": {"decision": {"kind": "guess"}},
    "a cut for a class that there is not": {"decision": {"kind": "cut", "threshold": 0.0, "positive": 2}},
    "calibration": {"calibration": {"power": 1e9, "floor": 0.0}},
    "preparation": {"preparation": {"kind": "pickle"}},
    "preparation of another width": {"preparation": {"kind": "standard", "mean": [0.0], "scale": [1.0]}},
    "certificate": {"certificate": {"gibbs_risk_bound": 0.0}},
    "certificate of another type": {"certificate": "excellent"},
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED.keys())
def test_altered_configs_are_refused_even_with_a_new_digest(model: Path, change: dict[str, Any]) -> None:
    rewrite_config(model, **change)
    refused(model)


def test_a_certificate_cannot_claim_more_than_its_record_earns(model: Path) -> None:
    _, texts = parts(model)
    claimed = json.loads(texts["config"])["certificate"]
    rewrite_config(model, certificate={**claimed, "gibbs_risk_bound": claimed["gibbs_risk_bound"] - 0.01})
    assert "gibbs_risk_bound" in refused(model)
    for statement in claimed["statements"]:
        honest = statement["value"]
        statement["value"] = statement["value"] - 0.01
        rewrite_config(model, certificate=claimed)
        assert str(statement["value"])[:6] in refused(model)
        statement["value"] = honest


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind": NaN}', '{"kind": 1e999}', "[" * 100_000, "1" * 5000])
def test_configs_that_are_no_json_object_are_refused(model: Path, text: str) -> None:
    arrays, texts = parts(model)
    rewrite(model, arrays, {**texts, "config": text})
    assert "config" in refused(model)


def test_every_altered_field_of_a_certificate_is_refused_or_harmless(model: Path) -> None:
    _, texts = parts(model)
    record = json.loads(texts["config"])["certificate"]
    strange: list[Any] = [None, True, -1, 2, 1e300, "x", [], {}, [1], 0]
    altered = [{**record, name: value} for name in record for value in strange]
    for part in ("facts", "statements"):
        if part == "facts":
            first = record[part]
        else:
            first = record[part][0]
        for name in first:
            for value in strange:
                made = {**first, name: value}
                altered.append({**record, part: made if part == "facts" else [made, *record[part][1:]]})
    for changed in altered:
        rewrite_config(model, certificate=changed)
        try:
            loaded = abnet.load(model)
        except ValueError:
            continue
        assert loaded.certificate_ is None or str(loaded.certificate_)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="model file"):
        abnet.load(tmp_path / "absent.abnet")
    with pytest.raises(ValueError, match="folder"):
        abnet.load(tmp_path)
