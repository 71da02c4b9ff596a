"""Prediction of 17,500 images by the exports, against scikit-learn's network of equal size and our own, in one run.

``python benchmarks/run.py exports``. The images are MNIST's where the original files are (ABNET_DATA), else made up,
with as many dark pixels. C is compiled for this machine and called through a shared library, all rows at once. It runs
on one core; beside it stand scikit-learn on one core and on all.
"""

import ctypes
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import abnet
from abnet.bam import BAM
from abnet.codebook import code_words
from abnet.export import onnx_program, to_c
from abnet.labels import Labels
from abnet.model.model import Model
from abnet.predictors.paths import Paths
from abnet.predictors.table import Table
from measure import Row, best_times, stated

N_ROWS, N_PIXELS, N_SLOW = 17_500, 784, 250
FLAGS = ("-O3", "-march=native", "-std=c99", "-ffp-contract=fast", "-shared", "-fPIC")
Codes = Callable[[NDArray[np.float32]], NDArray[np.int32]]


def images() -> tuple[NDArray[np.float32], str]:
    """Rows, and what they show: digits, or one pixel in five above zero."""
    try:
        found = abnet.data.load("mnistLH").X[:N_ROWS]
        return np.ascontiguousarray(found, np.float32), "MNIST"
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        made = rng.random((N_ROWS, N_PIXELS)) * (rng.random((N_ROWS, N_PIXELS)) < 0.19)
        return made.astype(np.float32), "made-up images"


def networks() -> dict[str, tuple[Model, int]]:
    """Networks by name, each with the width of the rival: as many hidden units as it has, over all members."""
    rng = np.random.default_rng(1)

    def network(*above: int) -> BAM:
        net = BAM.init(rng, (N_PIXELS, *above)).astype(np.float64)
        return BAM(tuple(10 * W for W in net.weights), net.biases)

    words, ten = code_words(10, 12), Labels(np.arange(10))
    exact = [network(8, 12) for _ in range(8)]
    wide = [network(100, 12) for _ in range(4)]
    return {
        "784-10-10-1": (Model(Table.from_networks([network(10, 10, 1)])), 10),
        "8 × 784-8-12, 10 classes": (Model(Table.from_networks(exact, words), ten), 64),
        "4 × 784-100-12, 400 paths, 10 classes": (
            Model(Paths.from_networks(wide, rng, n_paths=400, words=words), ten),
            400,
        ),
    }


def compiled(model: Model, folder: Path) -> Codes:
    """The C of a model as a function of an array."""
    to_c(model, folder / "model.c")
    subprocess.run(["cc", *FLAGS, "model.c", "-o", "model.so", "-lm"], cwd=folder, check=True)
    rows = ctypes.CDLL(str(folder / "model.so")).abnet_predict_rows
    pointer = ctypes.c_void_p

    def predict(X: NDArray[np.float32]) -> NDArray[np.int32]:
        codes = np.empty(len(X), np.int32)
        rows(X.ctypes.data_as(pointer), ctypes.c_size_t(len(X)), codes.ctypes.data_as(pointer), None)
        return codes

    return predict


def rival(X: NDArray[np.float32], classes: int, width: int) -> Any:
    """scikit-learn's network of a width; one epoch, since speed is all that is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.random.default_rng(2).integers(0, classes, 2000)
        return MLPClassifier((width,), max_iter=1, random_state=0).fit(X[:2000], y)


def measured(name: str, model: Model, width: int, X: NDArray[np.float32], what: str, folder: Path) -> list[Row]:
    c, mlp = compiled(model, folder), rival(X, model.n_classes, width)
    session = onnxruntime.InferenceSession(onnx_program(model).SerializeToString(), providers=["CPUExecutionProvider"])
    sampled = model.predictor.vote == "kept paths"
    X = X[:N_SLOW] if sampled else X
    step = 50 if sampled else 500

    def onnx() -> Any:
        return np.concatenate([session.run(["label"], {"X": X[i : i + step]})[0] for i in range(0, len(X), step)])

    expected = model.predict(X)
    assert model.classes_[c(X)].tolist() == expected.tolist()
    assert onnx().tolist() == expected.tolist()
    repeat = 1 if sampled else 5

    def on_one_core() -> Any:
        with threadpool_limits(1):
            return mlp.predict(X)

    jobs = (lambda: mlp.predict(X), lambda: c(X), onnx, lambda: model.predict(X), on_one_core)
    *times, alone = best_times(*jobs, repeat=repeat)
    told = ", ".join(f"{n} {1000 * t:.1f} ms" for n, t in zip(("MLP", "C", "ONNX", "NumPy"), times, strict=True))
    told += f"; MLP on one core {1000 * alone:.1f} ms"
    told = f"{len(X):,} rows of {what}, MLP of {width} units; {told}"
    labels = [f"{name}: {export} / MLPClassifier.predict" for export in ("C on one core", "onnxruntime", "NumPy")]
    ratios = [(label, time / times[0]) for label, time in zip(labels, times[1:], strict=True)]
    ratios.insert(0, (f"{name}: C / MLPClassifier.predict, both on one core", times[1] / alone))
    return [stated(label, ratio, told) for label, ratio in ratios]


def rows() -> Iterator[Row]:
    X, what = images()
    for name, (model, width) in networks().items():
        with tempfile.TemporaryDirectory() as folder:
            yield from measured(name, model, width, X, what, Path(folder))
