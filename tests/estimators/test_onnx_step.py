"""Pipelines through skl2onnx, run in onnxruntime: the labels and probabilities of scikit-learn's own predict."""

import sys
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abnet
from abnet.certificates.decision import Decision
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.input_check import InputShiftWarning
from abnet.tables.unseen import UnseenWarning

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")
types = pytest.importorskip("skl2onnx.common.data_types")

Fitted = tuple[Any, Any]


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    abnet.register_skl2onnx()


def run(model: Any, given: dict[str, Any]) -> list[Any]:
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return list(session.run(None, given))


def rows(n: int = 600) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def numbers() -> Fitted:
    """A scaler and three classes with texts for labels, one of them hostile."""
    X = rows(500)
    y = np.array(["low", 'a"b', "größe"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]
    network = abnet.ABNetClassifier((5,), random_state=0, max_iter=5)
    return make_pipeline(StandardScaler(), network).fit(X, y), rows(2000)


def test_a_pipeline_converts(numbers: Fitted) -> None:
    pipeline, X = numbers
    made = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    labels, probabilities = run(made, {"X": X})
    assert labels.tolist() == pipeline.predict(X).tolist()
    assert len(set(labels.tolist())) == 3
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-5)


def test_rows_without_an_answer_are_marked(numbers: Fitted) -> None:
    """There are two outputs only: an empty label where the model abstains, and NaN for all shares of a refused row."""
    fitted, X = numbers
    scaler, network = fitted[0], copy(fitted[1])
    threshold = float(np.median(network.predict_proba(scaler.transform(X)).max(axis=1)))
    network.model_ = replace(network.model_, decision=Decision(kind="abstain", threshold=threshold))
    pipeline = make_pipeline(scaler, network)
    expected = ["" if label is None else label for label in pipeline.predict(X)]
    assert 100 < expected.count("") < 1900
    given = X.copy()
    given[5, 1] = np.nan
    labels, probabilities = run(skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False}), {"X": given})
    expected[5] = ""
    assert labels.tolist() == expected
    assert np.flatnonzero(np.isnan(probabilities).all(axis=1)).tolist() == [5]
    assert np.isnan(probabilities).any(axis=1).sum() == 1


def test_probabilities_by_name(numbers: Fitted) -> None:
    pipeline, X = numbers
    expected = pipeline.predict_proba(X[:20])
    _, records = run(skl2onnx.to_onnx(pipeline, X[:1]), {"X": X[:20]})
    for record, row in zip(records, expected, strict=True):
        assert record == pytest.approx(dict(zip(pipeline.classes_.tolist(), row, strict=True)), abs=1e-5)
    _, *columns = run(skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": "columns"}), {"X": X[:20]})
    np.testing.assert_allclose(np.column_stack(columns), expected, atol=1e-5)


def test_numbers_of_double_precision_stay_so(numbers: Fitted) -> None:
    pipeline, X = numbers
    exact = 1e3 * X.astype(np.float64)
    made = skl2onnx.to_onnx(pipeline, exact[:1], options={"zipmap": False})
    labels, probabilities = run(made, {"X": exact})
    with pytest.warns(InputShiftWarning, match="column 'x"):
        expected = pipeline.predict(exact)
    with pytest.warns(InputShiftWarning, match="column 'x"):
        shares = pipeline.predict_proba(exact)
    assert labels.tolist() == expected.tolist()
    np.testing.assert_allclose(probabilities, shares, atol=1e-6)


def test_a_column_that_float32_does_not_resolve_needs_double_inputs() -> None:
    exact = rows(400).astype(np.float64) * [30, 1, 1, 1] + [1.6e9, 0, 0, 0]
    y = (rows(400)[:, 0] > 0).astype(int)
    network = abnet.ABNetClassifier((5,), random_state=0, max_iter=5, preprocessor=StandardScaler()).fit(exact, y)
    made = skl2onnx.to_onnx(network, exact[:1], options={"zipmap": False})
    assert run(made, {"X": exact})[0].tolist() == network.predict(exact).tolist()
    with pytest.raises(ValueError, match="float64"):
        skl2onnx.to_onnx(network, exact[:1].astype(np.float32))


def test_an_old_set_of_operators_is_refused(numbers: Fitted) -> None:
    pipeline, X = numbers
    with pytest.raises(ValueError, match="target_opset=18 or above"):
        skl2onnx.to_onnx(pipeline, X[:1], target_opset=15)


@pytest.fixture(scope="module")
def table() -> Fitted:
    """A frame that the classifier prepares itself, truths for labels, holes and new categories later."""
    rng = np.random.default_rng(5)
    ages = rng.integers(17, 90, 500).astype(float)
    ages[::7] = np.nan
    frame = pd.DataFrame({"age": ages, "job": rng.choice(["clerk", "smith", ""], 500)})
    y = (np.nan_to_num(ages, nan=50) > 50) ^ (frame["job"] == "smith").to_numpy()
    network = abnet.CertifiedClassifier((4,), random_state=0, max_iter=5, preprocessor=TablePreparation())
    return make_pipeline(network).fit(frame, y), frame.replace("smith", "pilot")


def declared(**kinds: Any) -> list[tuple[str, Any]]:
    return [(name, kind([None, 1])) for name, kind in kinds.items()]


def test_a_table_converts_column_by_column(table: Fitted) -> None:
    pipeline, frame = table
    given = declared(job=types.StringTensorType, age=types.DoubleTensorType)
    assert [column.kind for column in pipeline[-1].model_.preparation.columns] == ["numeric", "text"]
    made = skl2onnx.convert_sklearn(pipeline, initial_types=given, options={"zipmap": False})
    cells = {name: frame[[name]].to_numpy() for name in frame}
    labels, probabilities = run(made, cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        assert (labels == 1).tolist() == pipeline.predict(frame).tolist()
        assert 0 < labels.sum() < len(labels)
        np.testing.assert_allclose(probabilities, pipeline.predict_proba(frame), atol=1e-5)


def test_columns_that_do_not_fit_are_named(table: Fitted) -> None:
    pipeline, _ = table
    wrong = declared(job=types.DoubleTensorType, age=types.DoubleTensorType)
    with pytest.raises(ValueError, match="column 'job' must be declared to skl2onnx as text"):
        skl2onnx.convert_sklearn(pipeline, initial_types=wrong)
    with pytest.raises(ValueError, match="2 columns, but skl2onnx has 1 declared inputs"):
        skl2onnx.convert_sklearn(pipeline, initial_types=declared(job=types.StringTensorType))


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'abnet\[onnx\]'"):
        abnet.register_skl2onnx()


def test_estimators_and_loaded_models_write_the_same(numbers: Fitted, tmp_path: Path) -> None:
    network = numbers[0][-1]
    network.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    assert network.to_c(tmp_path / "a.c").header == loaded.to_c(tmp_path / "b.c").header
    network.to_onnx(tmp_path / "a.onnx")
    loaded.to_onnx(tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    assert (tmp_path / "a.c").read_text().replace("a.h", "b.h") == (tmp_path / "b.c").read_text()
