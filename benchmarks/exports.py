"""Prediction of 17,500 images by the exports, against scikit-learn's network and our own, in one run.

``python benchmarks/run.py exports``. The images are made up, with as many dark pixels as digits have; speed does not
depend on what they show. C is compiled for this machine and called through a shared library, row by row.
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

from abnet.bam import BAM
from abnet.export import onnx_program, to_c
from abnet.labels import Labels
from abnet.predictors.compact import CompactABNet
from abnet.predictors.mixture import CompactMixture
from abnet.predictors.predictor import ModelInfo, Predictor
from measure import Row, at_most, best_times, stated

N_ROWS, N_PIXELS = 17_500, 784
FLAGS = ("-O3", "-march=native", "-std=c99", "-shared", "-fPIC")

LOOP = """
#include "model.c"
void abnet_rows(const float *rows, int n, int *codes) {
    int i;
    for (i = 0; i < n; i++) codes[i] = abnet_predict(rows + (size_t)i * ABNET_COLUMNS, NULL);
}
"""


def images() -> NDArray[np.float32]:
    """Rows with one pixel in five above zero, as handwritten digits have."""
    rng = np.random.default_rng(0)
    return (rng.random((N_ROWS, N_PIXELS)) * (rng.random((N_ROWS, N_PIXELS)) < 0.19)).astype(np.float32)


def networks() -> dict[str, Predictor]:
    rng = np.random.default_rng(1)

    def network(*above: int) -> BAM:
        net = BAM.init(rng, (N_PIXELS, *above)).astype(np.float64)
        return BAM(tuple(10 * W for W in net.weights), net.biases)

    ten = ModelInfo(labels=Labels(np.arange(10)))
    return {
        "784-10-10-1": CompactABNet.from_network(network(10, 10, 1)),
        "8 × 784-8-4, 10 classes": CompactMixture.from_networks([network(8, 4) for _ in range(8)], ten),
    }


def compiled(model: Predictor, folder: Path) -> Callable[[NDArray[np.float32]], NDArray[np.int32]]:
    """The C of a model as a function of an array."""
    to_c(model, folder / "model.c")
    (folder / "loop.c").write_text(LOOP)
    subprocess.run(["cc", *FLAGS, "loop.c", "-o", "model.so", "-lm"], cwd=folder, check=True)
    rows = ctypes.CDLL(str(folder / "model.so")).abnet_rows

    def predict(X: NDArray[np.float32]) -> NDArray[np.int32]:
        codes = np.empty(len(X), np.int32)
        rows(X.ctypes.data_as(ctypes.c_void_p), len(X), codes.ctypes.data_as(ctypes.c_void_p))
        return codes

    return predict


def rival(X: NDArray[np.float32], classes: int) -> Any:
    """scikit-learn's network with its own default of 100 units; one epoch, since speed is all that is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.random.default_rng(2).integers(0, classes, 2000)
        return MLPClassifier(max_iter=1, random_state=0).fit(X[:2000], y)


def measured(name: str, model: Predictor, X: NDArray[np.float32], folder: Path) -> list[Row]:
    c, mlp = compiled(model, folder), rival(X, model.n_classes)
    session = onnxruntime.InferenceSession(onnx_program(model).SerializeToString(), providers=["CPUExecutionProvider"])

    def onnx() -> Any:
        blocks = [session.run(["label"], {"X": X[i : i + 500]})[0] for i in range(0, len(X), 500)]
        return np.concatenate(blocks)

    expected = model.predict(X)
    assert model.classes_[c(X)].tolist() == expected.tolist()
    assert onnx().tolist() == expected.tolist()
    times = best_times(lambda: mlp.predict(X), lambda: c(X), onnx, lambda: model.predict(X))
    told = ", ".join(f"{n} {1000 * t:.0f} ms" for n, t in zip(("MLP", "C", "ONNX", "NumPy"), times, strict=True))
    what = f"{name}: C / MLPClassifier.predict"
    return [
        # One network is the promise; a mixture of several with ten classes is shown beside it.
        at_most(what, times[1] / times[0], 1.0, told)
        if isinstance(model, CompactABNet)
        else stated(what, times[1] / times[0], told),
        stated(f"{name}: onnxruntime / MLPClassifier.predict", times[2] / times[0], told),
        stated(f"{name}: NumPy / MLPClassifier.predict", times[3] / times[0], told),
    ]


def rows() -> Iterator[Row]:
    X = images()
    for name, model in networks().items():
        with tempfile.TemporaryDirectory() as folder:
            yield from measured(name, model, X, Path(folder))
