"""`abnet export`: files that other programs read, and what the command says of them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import abnet
from abnet.model.file import save
from cli.tables import Failure, Run, refused_as_input
from export import models
from export.compiled import compile_c, needs_compiler
from model.every_kind import model as stored


@needs_compiler
def test_c_compiles_and_its_bytes_are_stated(run: Run, model: Path, tmp_path: Path) -> None:
    record = json.loads(run("export", model, "--to", "c", "--output", tmp_path / "model.c", "--json").stdout)
    assert record["output"] == str(tmp_path / "model.c")
    assert record["bytes"] == (tmp_path / "model.c").stat().st_size
    assert record["libm"]
    assert record["files"] == [str(tmp_path / name) for name in ("model.c", "model.h")]
    compile_c(tmp_path, "-c", "model.c")
    more = ("--prefix", "skin", "--example")
    again = json.loads(run("export", model, "--to", "c", "--output", tmp_path / "model.c", *more, "--json").stdout)
    assert (record["replaced"], again["replaced"]) == (False, True)
    text = run("export", model, "--to", "c", "--output", tmp_path / "model.c", *more).stdout
    assert f"{record['flash_bytes']:,} bytes" in text
    assert f"{record['ram_bytes']:,} bytes" in text
    assert "model_example.c" in text
    compile_c(tmp_path, "model.c", "model_example.c", "-lm")
    assert "skin_predict" in (tmp_path / "model.h").read_text()


def test_a_header_of_another_origin_is_kept(failure: Failure, model: Path, tmp_path: Path) -> None:
    (tmp_path / "model.h").write_text("#define MINE\n")
    message = failure("export", model, "--to", "c", "--output", tmp_path / "model.c", code=2)
    assert "model.h" in message
    assert not (tmp_path / "model.c").exists()


def test_onnx_runs_without_us(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    own = models.model("classes", 3, feature_names=("a", "b", "<c>\u202e"))
    save(own, tmp_path / "model.abnet")
    text = run("export", tmp_path / "model.abnet", "--to", "onnx").stdout
    assert "a, b, <c>\\u202e" in text
    assert "label, probabilities, valid" in text
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    X = np.random.default_rng(0).normal(size=(50, 3))
    given = {name: X[:, [i]] for i, name in enumerate(("a", "b", "<c>\u202e"))}
    assert session.run(["label"], given)[0].tolist() == abnet.load(tmp_path / "model.abnet").predict(X).tolist()


def test_a_model_is_not_overwritten_by_its_export(failure: Failure, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    message = failure("export", model, "--to", "c", "--output", model, "--overwrite", code=2)
    assert refused_as_input(message)
    link = tmp_path / "link.c"
    link.symlink_to(model)
    assert refused_as_input(failure("export", model, "--to", "c", "--output", link, "--overwrite", code=2))
    assert model.read_bytes() == before


@pytest.mark.parametrize("to", ["c", "onnx"])
def test_files_of_another_kind_are_kept_unless_told_otherwise(
    to: str, run: Run, failure: Failure, model: Path, tmp_path: Path
) -> None:
    if to == "onnx":
        pytest.importorskip("onnx")
    target = tmp_path / f"precious.{to}"
    target.write_text("int main(void) { return 0; }")
    failure("export", model, "--to", to, "--output", target, code=2, naming=[target, "--overwrite"])
    assert target.read_text() == "int main(void) { return 0; }"
    for options in (["--overwrite"], []):  # what the first wrote, the second may replace
        made = run("export", model, "--to", to, "--output", target, *options, "--json").stdout
        assert json.loads(made)["replaced"]
    assert target.stat().st_size > 500


def test_without_the_package_the_error_says_how_to_install_it(
    failure: Failure, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    message = failure("export", model, "--to", "onnx", "--output", tmp_path / "model.onnx")
    assert "pip install 'abnet[onnx]'" in message
    assert not (tmp_path / "model.onnx").exists()


def test_wrong_words_are_named(failure: Failure, model: Path, tmp_path: Path) -> None:
    assert "'java'" in failure("export", model, "--to", "java", code=2)
    assert "prefix" in failure("export", model, "--to", "c", "--prefix", "a-b", "--output", tmp_path / "model.c")
    save(stored("pbgnet: drawn", certificate=None), tmp_path / "field.abnet")
    message = failure("export", tmp_path / "field.abnet", "--to", "c")
    assert "PBGNet" in message
    assert not (tmp_path / "field.c").exists()
