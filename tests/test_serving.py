"""The recipes of docs/serving.md, run as they are written."""

import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet.labels import Labels
from abnet.model.model import Model
from abnet.preparation import TableMap
from abnet.preparation.columns import NumericColumn, TextColumn
from export import models
from readme import blocks

PAGE = Path(__file__).parents[1] / "docs" / "serving.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are in the repository, not in the wheel")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model of a table, in the file that the recipes load."""
    columns = (NumericColumn("age", 40.0, 38.5, 13.25, True), TextColumn("city", ("Oslo", "Lima"), (), True))
    table = TableMap(columns)
    made = models.model("mixture", table.n_features_out, preparation=table, labels=Labels(np.array(["no", "yes"])))
    made.save(tmp_path / "model.abnet")
    monkeypatch.chdir(tmp_path)
    return made


ROWS: list[dict[str, Any]] = [
    {"id": 1, "age": 31.0, "city": "Oslo"},
    {"id": 2, "age": None, "city": "Lima"},
    {"id": 3, "age": 70.5, "city": None},
    {"id": 4, "age": 5.0, "city": "Lima"},
]


def recipe(name: str) -> dict[str, Any]:
    """The names that a block of the page defines, by the file name in its first line."""
    found = [code for language, code in blocks(PAGE.read_text("utf-8")) if language == "python" and f"# {name}" in code]
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(found[0], name, "exec"), module.__dict__)
    return module.__dict__


def test_frames(model: Model) -> None:
    made, frame = recipe("frames.py"), pl.DataFrame(ROWS)
    assert made["with_labels"](frame.to_pandas())["label"].tolist() == model.predict(ROWS).tolist()
    found = frame.with_columns(label=pl.struct(pl.all()).map_batches(made["label_of_struct"], return_dtype=pl.String))
    assert found["label"].to_list() == model.predict(ROWS).tolist()


def test_spark(model: Model) -> None:
    frame = pd.DataFrame(ROWS)
    found = pd.concat(recipe("spark_job.py")["score"](iter([frame[:1], frame[1:]])))
    assert found["id"].tolist() == [1, 2, 3, 4]
    assert found["label"].tolist() == model.predict(ROWS).tolist()
    np.testing.assert_allclose(found["probability"], model.predict_proba(ROWS).max(axis=1))


@pytest.mark.filterwarnings("ignore")
def test_fastapi(model: Model) -> None:
    pytest.importorskip("httpx")
    testclient = pytest.importorskip("fastapi.testclient")
    client = testclient.TestClient(recipe("app.py")["app"])
    assert client.get("/healthz").json() == {"classes": ["no", "yes"]}
    assert client.post("/predict", json=ROWS).json()["labels"] == model.predict(ROWS).tolist()
    refused = client.post("/predict", json=[{"id": 1, "city": "Oslo"}])
    assert refused.status_code == 422
    assert "age" in refused.text
    assert client.post("/predict", json=ROWS * 2501).status_code == 413


def test_mlflow(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    wrapper = recipe("wrapper.py")["Abnet"]()
    wrapper.load_context(types.SimpleNamespace(artifacts={"model": "model.abnet"}))
    assert wrapper.predict(None, pd.DataFrame(ROWS)).tolist() == model.predict(ROWS).tolist()


def test_triton() -> None:
    """The description has the names, types and shapes of the ONNX model."""
    onnx = pytest.importorskip("onnx")
    from abnet.export import onnx_program

    graph = onnx_program(models.model("compact", 30, labels=Labels(np.array(["benign", "malignant"])))).graph
    [text] = [code for language, code in blocks(PAGE.read_text("utf-8")) if language == "text" and "backend" in code]
    told = {
        name: (kind, [int(size) for size in sizes.split(",")])
        for name, kind, sizes in re.findall(r'name: "(\w+)" data_type: TYPE_(\w+) dims: \[ ([-\d, ]+) \]', text)
    }
    kinds = {onnx.TensorProto.FLOAT: "FP32", onnx.TensorProto.STRING: "STRING", onnx.TensorProto.BOOL: "BOOL"}
    assert told == {
        info.name: (
            kinds[info.type.tensor_type.elem_type],
            [size.dim_value or -1 for size in info.type.tensor_type.shape.dim],
        )
        for info in (*graph.input, *graph.output)
    }


def test_prediction_imports_no_training_library(model: Model) -> None:
    """Loading and predicting, with the packages that the page leaves out made impossible to import."""
    blocked = ("jax", "optax", "sklearn", "typer", "rich", "matplotlib", "joblib", "jinja2", "pandas",
               "threadpoolctl", "platformdirs")  # fmt: skip
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({blocked}))\nimport abnet\n"
        f"print(abnet.load('model.abnet').predict({ROWS!r}).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(model.predict(ROWS).tolist())
