"""What is particular to ONNX: names of inputs and outputs, types of labels, the error function."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import erf

from abnet.certificates.decision import Decision
from abnet.export import onnx_program, to_onnx
from abnet.export.export_plan import export_plan
from abnet.export.onnx_graph import OnnxGraph
from abnet.model.model import Model
from abnet.tables.columns import TextColumn, WordsColumn
from abnet.tables.labels import Labels
from abnet.tables.unseen import UnseenWarning
from export import models

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    if isinstance(model, bytes):
        content = model
    else:
        content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, given), strict=True))


def feed(model: Model, rows: Any) -> dict[str, Any]:
    """Inputs of the graph for an array or a frame."""
    plan = export_plan(model)
    if plan.names is None:
        return {"X": np.asarray(rows, np.float64)}
    if not isinstance(rows, pl.DataFrame):
        return {name: np.asarray(rows, np.float64)[:, [i]] for i, name in enumerate(plan.names)}
    kinds: tuple[Any, ...] = plan.columns or ()
    found: dict[str, Any] = {}
    for column, name in zip(kinds, rows.columns, strict=True):
        if isinstance(column, TextColumn | WordsColumn):
            found[name] = np.array([[cell or ""] for cell in rows[name].to_list()], object)
        else:
            found[name] = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()[:, None]
    return found


def check(model: Model, rows: Any, reference: Any = None) -> None:
    """Same labels, and probabilities within 1e-6."""
    found = run(onnx_program(model), feed(model, rows))
    given = reference
    if reference is None:
        given = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        expected = model.predict(given)
        assert found["label"].tolist() == expected.tolist()
        assert len(set(expected.tolist())) > 1
        if model.predictor.shares:
            np.testing.assert_allclose(found["probabilities"], model.predict_proba(given), atol=1e-6)
        else:
            assert "probabilities" not in found
    assert found["valid"].all()


@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_every_split_of_the_cube(width: int) -> None:
    X = np.random.default_rng(7).normal(size=(500, 6)).astype(np.float32)
    check(models.model("mixture", 6, width=width), X)


@pytest.mark.parametrize(
    "classes", [[0, 1], [False, True], [0.5, 1.5], ['a"b', "<b>"], [np.int8(3), np.int8(4)]], ids=str
)
def test_labels_keep_their_type(classes: list[Any]) -> None:
    X = np.random.default_rng(7).normal(size=(100, 3)).astype(np.float32)
    check(models.model("compact", 3, labels=Labels(np.array(classes))), X)


def test_columns_may_be_called_like_the_outputs(tmp_path: Path) -> None:
    names = ("label", "probabilities", "valid", "constant", "mul", "cast_1")
    model = models.model("compact", 6, feature_names=names)
    X = np.random.default_rng(7).normal(size=(100, 6))
    proto = to_onnx(model, tmp_path / "model.onnx")
    found = run((tmp_path / "model.onnx").read_bytes(), feed(model, X))
    assert list(found) == ["label_1", "probabilities_1", "valid_1", "answered"]
    assert [given.name for given in proto.graph.input] == list(names)
    assert found["label_1"].tolist() == model.predict(X).tolist()


def test_the_error_function_is_in_double_precision() -> None:
    graph = OnnxGraph(["x"])
    graph.node("Identity", graph.erf("x"), out="y")
    info = onnx.helper.make_tensor_value_info
    made = onnx.helper.make_graph(graph.nodes, "erf", [info("x", 11, ["N"])], [info("y", 11, ["N"])], graph.constants)
    model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    x = np.concatenate([np.linspace(-7, 7, 20001), np.geomspace(1e-300, 1e300, 601), [0.0, np.inf, -np.inf]])
    np.testing.assert_allclose(run(model, {"x": x})["y"], erf(x), rtol=0, atol=1e-15)


def test_certificate_decision_and_classes_are_in_the_properties() -> None:
    model = replace(models.model("classes", 3), decision=Decision(kind="abstain", threshold=0.625))
    found = {entry.key: entry.value for entry in onnx_program(model).metadata_props}
    assert found["certificate"] == str(model.certificate_)
    assert json.loads(found["decision"]) == {"kind": "abstain", "threshold": 0.625, "positive": None}
    assert "0.625" in found["decision_in_words"]
    assert all(repr(name)[1:3] in found["classes"] for name in ("heed",))


def test_columns_of_one_name_stay_apart_and_labels_come_back() -> None:
    labels = Labels(np.array(sorted(['"; rm -rf', "<script>", "two\nlines", "größe\u202e", "n" * 300])))
    names = ("a", "a", "a_2", "", "", "X")
    model = models.model("classes", 6, feature_names=names, labels=labels)
    proto = onnx_program(model)
    inputs = [given.name for given in proto.graph.input]
    assert len(set(inputs)) == 6
    X = np.random.default_rng(7).normal(size=(500, 6))
    found = run(proto, {name: X[:, [i]] for i, name in enumerate(inputs)})
    assert found["label"].tolist() == model.predict(X).tolist()
    assert len(set(found["label"].tolist())) > 2
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)
