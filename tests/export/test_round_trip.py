"""Fit, save, load, export, run elsewhere: the labels of Python, on data that people know."""

import gzip
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
from abnet.bam import BAM
from abnet.data.preparation import TablePreparation
from abnet.data.preparation.coded import CodedMap
from abnet.data.preparation.unseen import UnseenWarning
from abnet.export import to_onnx
from abnet.labels import Labels
from abnet.predictors.mixture import CompactMixture
from abnet.predictors.predictor import ModelInfo, Predictor
from export.compiled import build, needs_compiler
from export.compiled import run as run_c
from export.test_onnx import feed
from export.test_onnx import run as run_onnx


def same_everywhere(model: Predictor, rows: Any, folder: Path) -> None:
    """Labels of the C program and of onnxruntime are Python's, probabilities within 1e-5."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        expected, shares = model.predict(rows), model.predict_proba(rows)
    codes, probabilities = run_c(build(model, folder)[0], model, rows)
    assert model.classes_[codes].tolist() == expected.tolist()
    np.testing.assert_allclose(probabilities, shares, atol=1e-5)
    to_onnx(model, folder / "model.onnx")
    found = run_onnx((folder / "model.onnx").read_bytes(), feed(model, rows))
    assert found["label"].tolist() == expected.tolist()
    np.testing.assert_allclose(found["probabilities"], shares, atol=1e-5)
    assert len(set(expected.tolist())) > 1


def fitted(X: Any, y: Any, folder: Path, **options: Any) -> Predictor:
    clf = abnet.ABNetClassifier((4, 4), random_state=0, max_iter=10, **options).fit(X, y)
    clf.save(folder / "model.abnet")
    return abnet.load(folder / "model.abnet")


@needs_compiler
@pytest.mark.parametrize("name", ["digits", "breast cancer", "circles"])
def test_arrays_of_numbers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        y = y > 4
    elif name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = make_circles(1500, noise=0.1, factor=0.5, random_state=0)
    X = X.astype(np.float32)
    same_everywhere(fitted(X, y, tmp_path, preprocessor=StandardScaler()), X, tmp_path)


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
@pytest.mark.parametrize("coded", [False, True])
def test_a_mixed_table_with_gaps_and_new_categories(coded: bool, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    frame = mixed(800, new=False)
    preparation: Any = TablePreparation().fit(frame).map_
    if coded:
        preparation = CodedMap.of(preparation, preparation.transform(frame))
    labels = np.where(frame["age"].fill_null(40) + frame["hours per week"].fill_null(0) > 80, "rich", "poor")
    X = preparation.transform(frame)
    clf = abnet.ABNetClassifier((4, 4), random_state=0, max_iter=10).fit(X, labels)
    own = clf.compact()
    info = ModelInfo(labels=own.info.labels, preparation=preparation, certificate=own.info.certificate)
    model = type(own).from_arrays(own.arrays(), info)
    same_everywhere(model, mixed(3000, new=True), tmp_path)


ADULT = Path(os.environ.get("ABNET_DATA", "")) / "adult.data.gz"


@needs_compiler
@pytest.mark.skipif(not ADULT.is_file(), reason="the original files of adult are not here")
def test_adult(tmp_path: Path) -> None:
    """Learned from 4,000 rows, so that others hold categories which these lack; exported, and run on 12,000."""
    pytest.importorskip("onnxruntime")
    with gzip.open(ADULT, "rt", encoding="utf-8") as file:
        cells = [line.strip().split(", ") for line in file if line.count(",") == 14]
    frame = pl.DataFrame(cells, schema=[f"column {i}" for i in range(15)], orient="row")
    target = frame["column 14"].to_numpy()
    frame = frame.drop("column 14")
    preparation: Any = TablePreparation().fit(frame[:4000]).map_
    X = preparation.transform(frame[:4000])
    own = abnet.ABNetClassifier((4, 4), random_state=0, max_iter=10).fit(X, target[:4000]).compact()
    info = ModelInfo(labels=own.info.labels, preparation=preparation, certificate=own.info.certificate)
    same_everywhere(type(own).from_arrays(own.arrays(), info), frame[4000:16000], tmp_path)


@needs_compiler
def test_eleven_classes(tmp_path: Path) -> None:
    """As many classes as there are vowels in the data set of that name, ten inputs, a mixture."""
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(3)
    nets = [BAM.init(rng, (10, 6, 5)) for _ in range(8)]
    nets = [BAM(tuple(8 * W for W in net.weights), net.biases) for net in nets]
    labels = Labels(np.array([f"vowel {i}" for i in range(11)]))
    model = CompactMixture.from_networks(nets, ModelInfo(labels=labels))
    same_everywhere(model, rng.normal(size=(4000, 10)).astype(np.float32), tmp_path)
