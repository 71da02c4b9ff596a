"""The recipes of docs/serving.md, run as they are written."""

import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet.model.model import Model
from abnet.tables.columns import NumericColumn, TextColumn
from abnet.tables.labels import Labels
from abnet.tables.preparation import TableMap
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
    """The names that a block of the page defines."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source(name), name, "exec"), module.__dict__)
    return module.__dict__


def source(name: str) -> str:
    """A block of the page, by the file name in its first line."""
    found = [code for language, code in blocks(PAGE.read_text("utf-8")) if language == "python" and f"# {name}" in code]
    return found[0]


def test_frames(model: Model) -> None:
    made = recipe("frames.py")
    frame = pl.DataFrame(ROWS)
    assert made["with_labels"](frame.to_pandas())["label"].tolist() == model.predict(ROWS).tolist()
    found = frame.with_columns(label=pl.struct(pl.all()).map_batches(made["label_of_struct"], return_dtype=pl.String))
    assert found["label"].to_list() == model.predict(ROWS).tolist()


def test_what_spark_calls(model: Model) -> None:
    frame = pd.DataFrame(ROWS)
    check_scored(pd.concat(recipe("spark_job.py")["score"](iter([frame[:1], frame[1:]]))), model)


@pytest.mark.filterwarnings("ignore")
def test_spark(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    pytest.importorskip("pyarrow", reason="mapInPandas needs PyArrow")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    (tmp_path / "spark_job.py").write_text(source("spark_job.py"), encoding="utf-8")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        session.sparkContext.addPyFile(str(tmp_path / "spark_job.py"))
        from spark_job import score  # type: ignore[import-not-found]

        frame = session.createDataFrame([tuple(row.values()) for row in ROWS], "id long, age double, city string")
        schema = "id long, label string, probability double"
        check_scored(frame.repartition(2).mapInPandas(score, schema=schema).toPandas().sort_values("id"), model)
    finally:
        session.stop()


def check_scored(found: pd.DataFrame, model: Model) -> None:
    """The labels and probabilities of the rows, by id."""
    assert found["id"].tolist() == [1, 2, 3, 4]
    assert found["label"].tolist() == model.predict(ROWS).tolist()
    np.testing.assert_allclose(found["probability"], model.predict_proba(ROWS).max(axis=1))


@pytest.mark.filterwarnings("ignore")
def test_fastapi(model: Model) -> None:
    pytest.importorskip("httpx", reason="FastAPI's test client needs httpx")
    testclient = pytest.importorskip("fastapi.testclient", reason="FastAPI is not installed")
    client = testclient.TestClient(recipe("app.py")["app"])
    assert client.get("/healthz").json() == {"classes": ["no", "yes"]}
    assert client.post("/predict", json=ROWS).json()["labels"] == model.predict(ROWS).tolist()
    bad: list[tuple[Any, str]] = [
        ([{"id": 1, "city": "Oslo"}], "age"),
        ([], "no rows"),
        ([ROWS[0] | {"age": [1]}], "age"),
    ]
    for rows, told in bad:
        refused = client.post("/predict", json=rows)
        assert refused.status_code == 422
        assert told in refused.text
    assert client.post("/predict", json=ROWS * 2501).status_code == 413


@pytest.mark.filterwarnings("ignore")
def test_mlflow(model: Model) -> None:
    """Saved by the line on the page, and loaded in a program that does not have the wrapper."""
    pyfunc = pytest.importorskip("mlflow.pyfunc", reason="MLflow is not installed")
    Path("wrapper.py").write_text(source("wrapper.py"), encoding="utf-8")
    pyfunc.save_model("served", python_model="wrapper.py", artifacts={"model": "model.abnet"}, pip_requirements=[])
    Path("wrapper.py").unlink()
    Path("model.abnet").unlink()
    found = pyfunc.load_model("served").predict(pd.DataFrame(ROWS))
    assert found.tolist() == model.predict(ROWS).tolist()


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
    kinds = {
        onnx.TensorProto.DOUBLE: "FP64",
        onnx.TensorProto.FLOAT: "FP32",
        onnx.TensorProto.STRING: "STRING",
        onnx.TensorProto.BOOL: "BOOL",
    }
    assert told == {
        info.name: (
            kinds[info.type.tensor_type.elem_type],
            [size.dim_value or -1 for size in info.type.tensor_type.shape.dim],
        )
        for info in (*graph.input, *graph.output)
    }


def test_prediction_imports_no_training_library(model: Model) -> None:
    """Loading and predicting, with the packages that the page leaves out made impossible to import."""
    done = without(TRAINING, f"print(abnet.load('model.abnet').predict({ROWS!r}).tolist())")
    assert done.stdout.strip() == str(model.predict(ROWS).tolist())


def test_rows_and_pandas_frames_need_no_polars_and_files_say_that_they_do(model: Model) -> None:
    pl.DataFrame(ROWS).write_csv("rows.csv")
    blocked = (*(name for name in TRAINING if name != "pandas"), "polars")
    predict = "print(abnet.load('model.abnet').predict({}).tolist())"
    for rows in (repr(ROWS), f"__import__('pandas').DataFrame({ROWS!r})"):
        assert without(blocked, predict.format(rows)).stdout.strip() == str(model.predict(ROWS).tolist())
    done = without(blocked, "abnet.predict_table('model.abnet', 'rows.csv', 'answers.csv')", fails=True)
    assert "abnet-predict[tables]" in done.stderr.splitlines()[-1]


TRAINING = ("jax", "optax", "sklearn", "typer", "rich", "matplotlib", "joblib", "jinja2", "pandas", "threadpoolctl",
            "platformdirs", "markupsafe")  # fmt: skip


def without(blocked: tuple[str, ...], program: str, *, fails: bool = False) -> "subprocess.CompletedProcess[str]":
    """What a program prints in which these packages cannot be imported."""
    code = f"import sys; sys.modules.update(dict.fromkeys({blocked}))\nimport abnet\n{program}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=not fails)
