"""Fit, save, load, export, run elsewhere: the labels of Python, on data that people know."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_circles
from sklearn.preprocessing import StandardScaler

import abnet
from abnet.export import to_onnx
from abnet.export.export_plan import export_plan
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.tables.labels import Labels
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.unseen import UnseenWarning
from export.compiled import build, needs_compiler
from export.compiled import run as run_c
from export.test_onnx import feed
from export.test_onnx import run as run_onnx


def same_everywhere(model: Model, rows: Any, folder: Path) -> None:
    """Labels of the C program and of onnxruntime are Python's, probabilities within 1e-5."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        expected = model.predict(rows)
        shares = model.predict_proba(rows)
    codes, probabilities = run_c(build(model, folder)[0], model, rows)
    assert model.classes_[codes].tolist() == expected.tolist()
    np.testing.assert_allclose(probabilities, shares, atol=1e-5)
    to_onnx(model, folder / "model.onnx")
    found = run_onnx((folder / "model.onnx").read_bytes(), feed(model, rows))
    assert found["label"].tolist() == expected.tolist()
    np.testing.assert_allclose(found["probabilities"], shares, atol=1e-5)
    assert len(set(expected.tolist())) > 1


TWO: dict[str, Any] = {"hidden": (4,), "n_estimators": 2}
"""Two networks, whose inputs are padded: tables of any width up to 32 features have one program."""


def fitted(X: Any, y: Any, folder: Path, hidden: tuple[int, ...] = (4, 4), **options: Any) -> Model:
    """A classifier that learned a little, saved and loaded."""
    clf = abnet.CertifiedClassifier(hidden, random_state=0, **{"max_iter": 10, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # the bound part has categories that the first part lacks
        clf.fit(X, y)
    clf.save(folder / "model.abnet")
    return abnet.load(folder / "model.abnet")


@needs_compiler
@pytest.mark.parametrize("name", ["digits", "breast cancer", "circles"])
def test_arrays_of_numbers(name: str, tmp_path: Path) -> None:
    """Digits have ten classes, which wide members tell apart."""
    pytest.importorskip("onnxruntime")
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        options: dict[str, Any] = {"hidden": (30,), "n_estimators": 2, "max_iter": 3}
    elif name == "breast cancer":
        (X, y), options = load_breast_cancer(return_X_y=True), {}
    else:
        (X, y), options = make_circles(500, noise=0.1, factor=0.5, random_state=0), {**TWO, "max_iter": 40}
    X = X.astype(np.float32)
    model = fitted(X, y, tmp_path, preprocessor=StandardScaler(), **options)
    assert isinstance(model.predictor, MomentsPredictor) == (name == "digits")
    same_everywhere(model, X, tmp_path)


def mixed(n: int, *, new: bool) -> pl.DataFrame:
    """People: numbers, truths and categories with gaps; new rows have categories that the others lack."""
    rng = np.random.default_rng(1 + new)
    jobs = ["clerk", "farmer", "smith, jr.", 'the "boss"', *(["pilot"] if new else [])]
    frame = pl.DataFrame(
        {
            "age": rng.integers(17, 90, n).tolist(),
            "hours per week": (rng.random(n) * 60).round(1).tolist(),
            "job": rng.choice(jobs, n).tolist(),
            "native": (rng.random(n) < 0.8).tolist(),
        }
    )
    holes = [pl.when(pl.Series(rng.random(n) < 0.9)).then(pl.col(name)).alias(name) for name in frame.columns]
    return frame.with_columns(holes)


@needs_compiler
@pytest.mark.parametrize("codes", ["none", "thermometer"])
def test_a_mixed_table_with_gaps_and_new_categories(codes: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    frame = mixed(500, new=False)
    labels = np.where(frame["age"].fill_null(40) + frame["hours per week"].fill_null(0) > 80, "rich", "poor")
    model = fitted(frame, labels, tmp_path, codes=codes, preprocessor=TablePreparation(), **TWO)
    assert isinstance(model.preparation, CodedMap) == (codes == "thermometer")
    same_everywhere(model, mixed(3000, new=True), tmp_path)


TABLES = Path(os.environ.get("ABNET_TABLES", "."))
needs_tables = pytest.mark.skipif(not (TABLES / "vowel.csv.gz").is_file(), reason="ABNET_TABLES names no such folder")


def read(name: str) -> tuple[pl.DataFrame, np.ndarray]:
    frame = pl.read_csv(TABLES / f"{name}.csv.gz", infer_schema_length=None)
    return frame.drop("target"), frame["target"].to_numpy()


@needs_compiler
@needs_tables
def test_adult(tmp_path: Path) -> None:
    """Learned from 2,000 rows, so that others hold categories which these lack; exported, and run on 6,000."""
    pytest.importorskip("onnxruntime")
    frame, target = read("adult")
    model = fitted(frame[:2000], target[:2000], tmp_path, codes="thermometer", preprocessor=TablePreparation())
    same_everywhere(model, frame[2000:8000], tmp_path)


@needs_compiler
@needs_tables
@pytest.mark.parametrize("hidden", [(6,), (30,)], ids=["exact", "paths"])
def test_vowel(hidden: tuple[int, ...], tmp_path: Path) -> None:
    """Eleven classes, by tables and by sampled paths."""
    pytest.importorskip("onnxruntime")
    frame, target = read("vowel")
    preparation = TablePreparation()
    options = {"n_estimators": 2, "max_iter": 5, "preprocessor": preparation}
    model = fitted(frame, target, tmp_path, hidden, **options)
    names = [column.name for column in export_plan(model).columns or ()]
    same_everywhere(model, frame.select(names), tmp_path)


@needs_compiler
def test_eleven_classes(tmp_path: Path) -> None:
    """As many classes as there are vowels in the data set of that name, ten inputs, a mixture."""
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(3)
    nets = [BAM.init(rng, (10, 6, 5)) for _ in range(8)]
    nets = [BAM(tuple(8 * W for W in net.weights), net.biases) for net in nets]
    labels = Labels(np.array([f"vowel {i}" for i in range(11)]))
    model = Model(Compact.from_networks(nets, code_words(11, 5)), labels)
    same_everywhere(model, rng.normal(size=(4000, 10)).astype(np.float32), tmp_path)
