"""Decimals, which float32 rounds: the labels of Python, whatever the floats, of C, ONNX and JavaScript are the same."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from abnet.export.onnx_model import onnx_program
from abnet.tables.preparation import TablePreparation, as_preparation
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from export import models
from export.compiled import build, needs_compiler
from export.compiled import run as run_c
from export.test_js import predicted
from export.test_onnx import feed
from export.test_onnx import run as run_onnx

NAMES = tuple("abcd")


def rows(n: int, decimals: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 4)) * [1, 3, 10, 100] + [0, 5, 37, 2000]).round(decimals)


def prepared(name: str, X: np.ndarray) -> Any:
    if name == "thermometer":
        return as_preparation(ThermometerCodes().fit(X))
    if name == "table":
        frame = pl.DataFrame(X, schema=NAMES)
        base = as_preparation(TablePreparation().fit(frame))
        return CodedMap.of(base, base.transform(frame))
    base = as_preparation((StandardScaler() if name == "standard" else MinMaxScaler()).fit(X))
    return CodedMap.of(base, base.transform(X))


@needs_compiler
@pytest.mark.parametrize("decimals", [1, 2])
@pytest.mark.parametrize("name", ["standard", "minmax", "thermometer", "table"])
def test_all_labels_are_the_same(name: str, decimals: int, tmp_path: Path) -> None:
    preparation = prepared(name, rows(150, 1, seed=0))
    model = models.model("compact", preparation.n_features_out, width=6, preparation=preparation)
    new: Any = rows(5000, decimals, seed=1)
    single: Any = new.astype(np.float32)
    if name == "table":
        new = pl.DataFrame(new, schema=NAMES)
        single = pl.DataFrame(single, schema=NAMES)
    labels = model.predict(new)
    assert len(set(labels.tolist())) == 2
    np.testing.assert_array_equal(model.predict(single), labels)
    program = build(model, tmp_path)[0]
    graph = onnx_program(model)
    for given in (new, single):
        np.testing.assert_array_equal(model.classes_[run_c(program, model, given)[0]], labels)
        np.testing.assert_array_equal(run_onnx(graph, feed(model, given))["label"], labels)
        if shutil.which("node"):
            if name == "table":
                cells = given.rows()
            else:
                cells = given.tolist()
            found = predicted(tmp_path, model, [list(row) for row in cells])
            assert [answer["label"] for answer in found] == [str(label) for label in labels.tolist()]
