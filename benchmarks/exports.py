"""Prediction of 17,500 images by the exports, against scikit-learn's network of equal size and our own, in one run.

``python benchmarks/run.py exports``. The images are MNIST's where the original files are (ABNET_DATA), else made up,
with as many dark pixels. C is compiled for this machine and called through a shared library, all rows at once. It runs
on one core; beside it stand scikit-learn on one core and on all.
"""

import ctypes
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import skl2onnx
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import abnet
from abnet.export import onnx_program, to_c
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.tables.labels import Labels
from abnet.tables.preparation import StandardMap
from abnet.tables.preparation.coded import CodedMap
from measure import Row, best_times, stated

N_ROWS = 17_500
N_PIXELS = 784
N_SLOW = 250
SHORT = 50
"""Rows of a short batch: other programs on the machine seldom interrupt it."""
FLAGS = ("-O3", "-march=native", "-std=c99", "-ffp-contract=fast", "-shared", "-fPIC")
Codes = Callable[[NDArray[np.float64]], NDArray[np.int32]]


def images() -> tuple[NDArray[np.float32], str]:
    """Rows, and what they show: digits, or one pixel in five above zero."""
    try:
        found = abnet.paper.load("mnistLH").X[:N_ROWS]
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

    words = code_words(10, 12)
    ten = Labels(np.arange(10))
    exact = [network(8, 12) for _ in range(8)]
    wide = [network(100, 12) for _ in range(4)]
    return {
        "784-10-10-1": (Model(Compact.from_networks([network(10, 10, 1)])), 10),
        "8 × 784-8-12, 10 classes": (Model(Compact.from_networks(exact, words), ten), 64),
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

    def predict(X: NDArray[np.float64]) -> NDArray[np.int32]:
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
    c = compiled(model, folder)
    mlp = rival(X, model.n_classes, width)
    session = onnxruntime.InferenceSession(onnx_program(model).SerializeToString(), providers=["CPUExecutionProvider"])
    sampled = model.predictor.vote == "kept paths"
    if sampled:
        X = X[:N_SLOW]
    else:
        X = X
    exact = X.astype(np.float64)  # what exports take
    step = 500
    if sampled:
        step = 50

    def onnx() -> Any:
        return np.concatenate([session.run(["label"], {"X": exact[i : i + step]})[0] for i in range(0, len(X), step)])

    expected = model.predict(X)
    assert model.classes_[c(exact)].tolist() == expected.tolist()
    assert onnx().tolist() == expected.tolist()
    repeat = 5
    if sampled:
        repeat = 1

    def on_one_core() -> Any:
        with threadpool_limits(1):
            return mlp.predict(X)

    jobs = (lambda: mlp.predict(X), lambda: c(exact), onnx, lambda: model.predict(X), on_one_core)
    *times, alone = best_times(*jobs, repeat=repeat)
    told = ", ".join(f"{n} {1000 * t:.1f} ms" for n, t in zip(("MLP", "C", "ONNX", "NumPy"), times, strict=True))
    told += f"; MLP on one core {1000 * alone:.1f} ms"
    told = f"{len(X):,} rows of {what}, MLP of {width} units; {told}"
    labels = [f"{name}: {export} / MLPClassifier.predict" for export in ("C on one core", "onnxruntime", "NumPy")]
    ratios = [(label, time / times[0]) for label, time in zip(labels, times[1:], strict=True)]
    ratios.insert(0, (f"{name}: C / MLPClassifier.predict, both on one core", times[1] / alone))
    return [stated(label, ratio, told) for label, ratio in ratios]


# A wide model of several classes on coded columns, against a network of equal size on the raw columns, in C too

_MLP = """#include <stddef.h>
static const float W[] = {%(W)s};
static const float V[] = {%(V)s};
void mlp(const float *x, size_t rows, int *codes) {
    size_t r;
    for (r = 0; r < rows; r++, x += %(n)d) {
        float h[%(units)d] = {0}, o[%(classes)d] = {0};
        int i, u, k, best = 0;
        for (i = 0; i < %(n)d; i++)
            for (u = 0; u < %(units)d; u++) h[u] += x[i] * W[i * %(units)d + u];
        for (u = 0; u < %(units)d; u++) h[u] = h[u] > 0 ? h[u] : 0;
        for (u = 0; u < %(units)d; u++)
            for (k = 0; k < %(classes)d; k++) o[k] += h[u] * V[u * %(classes)d + k];
        for (k = 1; k < %(classes)d; k++) best = o[k] > o[best] ? k : best;
        codes[r] = best;
    }
}
"""


def mlp_source(columns: int, units: int, classes: int) -> str:
    """C of an MLP with one hidden layer, whose weights are drawn: time does not depend on them."""
    rng = np.random.default_rng(3)
    sizes = {"W": columns * units, "V": units * classes}
    numbers = {name: ", ".join(f"{w:.9e}f" for w in rng.normal(size=size)) for name, size in sizes.items()}
    return _MLP % {**numbers, "n": columns, "units": units, "classes": classes}


def wide_model() -> Model:
    """4 members of 300 neurons on 64 columns with 12 codes each: the size of a default model of the digits."""
    rng = np.random.default_rng(1)
    n = 64
    preparation = CodedMap(StandardMap((0.0,) * n, (1.0,) * n), (tuple(np.linspace(-2, 2, 12).tolist()),) * n)
    networks = [BAM.init(rng, (preparation.n_features_out, 300, 12)).astype(np.float64) for _ in range(4)]
    louder = [BAM(tuple(10 * W for W in network.weights), network.biases) for network in networks]
    predictor = MomentsPredictor.from_networks(louder, code_words(10, 12)).rounded()
    return Model(predictor, Labels(np.arange(10)), preparation)


def library(
    compiler: str, source: str, function: str, folder: Path, level: str = "-O3"
) -> Callable[[NDArray[Any]], Any]:
    """A function over rows from C, compiled for any machine of this kind."""
    made = folder / f"{function}_{compiler}{level}.so"
    flags = (level, "-std=c99", "-shared", "-fPIC", "-o", str(made))
    subprocess.run([compiler, source, *flags, "-lm"], cwd=folder, check=True)
    called = getattr(ctypes.CDLL(str(made)), function)
    pointer = ctypes.c_void_p

    def run(X: NDArray[Any]) -> NDArray[np.int32]:
        codes = np.empty(len(X), np.int32)
        called(X.ctypes.data_as(pointer), ctypes.c_size_t(len(X)), codes.ctypes.data_as(pointer), None)
        return codes

    return run


def repeated(function: Callable[[NDArray[Any]], Any], one: NDArray[Any]) -> None:
    """One row, as often as a short batch has rows."""
    for _ in range(SHORT):
        function(one)


def coded_rows(folder: Path) -> Iterator[Row]:
    """A row in C against the same units on the raw columns, and against a forest of 300 trees in onnxruntime."""
    model = wide_model()
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 64)).astype(np.float32)
    (folder / "mlp.c").write_text(mlp_source(64, 1200, 10))
    to_c(model, folder / "model.c")
    model.save(folder / "model.abnet")
    for compiler in filter(shutil.which, ("gcc", "clang")):
        c = library(compiler, "model.c", "abnet_predict_rows", folder)
        mlp = library(compiler, "mlp.c", "mlp", folder)
        exact = X.astype(np.float64)
        assert c(exact).tolist() == model.predict(X).tolist()
        some = exact[:SHORT]
        raw = X[:SHORT]
        jobs = [partial(c, some), partial(mlp, raw), partial(repeated, c, some[:1]), partial(repeated, mlp, raw[:1])]
        batch, rival, single, lone = best_times(*jobs, repeat=100)
        told = f"{1e6 * batch / SHORT:.1f} µs a row against {1e6 * rival / SHORT:.1f} µs, {compiler} -O3"
        yield stated(f"4 × 300 neurons on coded columns, {compiler}: C / MLP of 1,200 units in C", batch / rival, told)
        alone = f"{1e6 * single / SHORT:.1f} µs against {1e6 * lone / SHORT:.1f} µs, each with a call from Python"
        yield stated(f"the same, one row at a time, {compiler}", single / lone, alone)
    yield stated("the same: model file, MB", (folder / "model.abnet").stat().st_size / 1e6, "weights of 8 bits")
    yield from peers(X, batch * len(X) / SHORT)


def peers(X: NDArray[np.float32], ours: float) -> Iterator[Row]:
    """Other libraries' models of 10 classes, on one core: a forest by onnxruntime, and LightGBM if it is there."""
    y = np.random.default_rng(4).integers(0, 10, len(X))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    forest = skl2onnx.to_onnx(RandomForestClassifier(300, random_state=0).fit(X, y), X[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(forest.SerializeToString(), options, providers=["CPUExecutionProvider"])
    time = best_times(lambda: session.run(None, {"X": X}))[0]
    yield stated(
        "our C / forest of 300 trees in onnxruntime, one core", ours / time, f"{1e6 * time / len(X):.1f} µs a row"
    )
    if find_spec("lightgbm"):
        lightgbm: Any = import_module("lightgbm")

        boosted = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y)
        time = best_times(lambda: boosted.predict(X))[0]
        yield stated("our C / LightGBM.predict, one core", ours / time, f"{1e6 * time / len(X):.1f} µs a row")


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from coded_rows(Path(folder))
    X, what = images()
    for name, (model, width) in networks().items():
        with tempfile.TemporaryDirectory() as folder:
            yield from measured(name, model, width, X, what, Path(folder))
