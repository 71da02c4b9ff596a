"""Several classes: what a default model costs beside a forest, an MLP in C and LightGBM, in one run.

``python benchmarks/run.py several``. Times are the best of a few, taken in turns; ratios are also given in CPU time,
which other programs on the machine disturb less. Fits are warm: the compiled programs are there. iris, wine and digits
come with scikit-learn; vehicle, vowel and segment are read from the folder that ABNET_TABLES names (one gzipped CSV
each, with the column `target`) and are skipped without it. LightGBM is compared if it is installed.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import skl2onnx
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier

import abnet
from abnet import CertifiedClassifier
from exports import SHORT, library, mlp_source
from measure import Row, at_most, best_costs, best_times, stated

Table = tuple[NDArray[np.float32], NDArray[Any]]
FIT = 8
IRIS = 3
C = 5
KILOBYTES = 600
REPORT = 20
EXPLAIN = 1
"""Limits: fit / forest, seconds of iris, C / MLP, size of the file, seconds of a report and of an explained row."""
TOLD = ("vowel", "digits")
"""Tables whose models are exported, reported and explained."""


def tables() -> Iterator[tuple[str, Table | None]]:
    """The tables by name; None for those that are not here."""
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        yield name, (np.asarray(X, np.float32), y)
    X, y = make_classification(360, 90, n_informative=30, n_classes=15, n_clusters_per_class=1, random_state=0)
    yield "made up, 15 classes, 360 × 90", (X.astype(np.float32), y)
    folder = os.environ.get("ABNET_TABLES")
    for name in ("vehicle", "vowel", "segment"):
        path = Path(folder or "") / f"{name}.csv.gz"
        if folder is None or not path.exists():
            yield name, None
            continue
        frame = pd.read_csv(path)
        X = np.ascontiguousarray(frame.drop(columns="target"), np.float32)  # C reads row after row
        yield name, (X, frame["target"].to_numpy(str))


def fits(name: str, table: Table) -> Iterator[Row]:
    """A warm default fit against a forest of 300 trees on all cores."""
    X, y = table
    CertifiedClassifier(random_state=1).fit(X, y)  # compiles, or reads the compiled programs
    ours, forest = best_costs(
        lambda: CertifiedClassifier(random_state=0).fit(X, y),
        lambda: RandomForestClassifier(300, n_jobs=-1, random_state=0).fit(X, y),
    )
    detail = f"{ours.wall:.2f} / {forest.wall:.2f} s; CPU {ours.cpu:.2f} / {forest.cpu:.2f} s"
    yield at_most(f"{name}: fit / forest of 300 trees", ours.wall / forest.wall, FIT, detail)
    yield stated(f"{name}: fit / forest of 300 trees, CPU time", ours.cpu / forest.cpu, detail)
    if name == "iris":
        yield at_most("iris: warm fit, s", ours.wall, IRIS, f"CPU {ours.cpu:.2f} s")


def exported(name: str, clf: Any, X: NDArray[np.float32], folder: Path) -> Iterator[Row]:
    """A row in C against an MLP of as many units on the raw columns, for both compilers."""
    units = clf.recipe_["n_estimators"] * sum(clf.recipe_["hidden_layer_sizes"])
    classes = len(clf.classes_)
    clf.to_c(folder / "model.c")
    (folder / "mlp.c").write_text(mlp_source(X.shape[1], units, classes))
    expected = clf.predict(X)
    exact = X.astype(np.float64)  # what exports take
    for compiler, level in product(filter(shutil.which, ("gcc", "clang")), ("-O2", "-O3")):
        c = library(compiler, "model.c", "abnet_predict_rows", folder, level)
        mlp = library(compiler, "mlp.c", "mlp", folder, level)
        assert clf.classes_[c(exact)].tolist() == expected.tolist()
        ours, theirs = (
            1e6 * time / SHORT for time in best_times(partial(c, exact[:SHORT]), partial(mlp, X[:SHORT]), repeat=100)
        )
        what = f"{name}: C / MLP of {units} units in C, {compiler} {level}"
        yield at_most(what, ours / theirs, C, f"{ours:.1f} / {theirs:.1f} µs a row")


def peers(name: str, table: Table, folder: Path) -> Iterator[Row]:
    """Microseconds a row and kilobytes of other models on one core: a forest by onnxruntime, LightGBM."""
    X, y = table
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    forest = skl2onnx.to_onnx(
        RandomForestClassifier(300, n_jobs=-1, random_state=0).fit(X, y), X[:1], options={"zipmap": False}
    ).SerializeToString()
    session = onnxruntime.InferenceSession(forest, options, providers=["CPUExecutionProvider"])
    (seconds,) = best_times(lambda: session.run(None, {"X": X}))
    yield stated(f"{name}: forest (ONNX), µs a row", 1e6 * seconds / len(X), f"{len(forest) / 1000:,.0f} kB")
    if find_spec("lightgbm"):
        boosted: Any = import_module("lightgbm").LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
        (taken,) = best_costs(lambda: boosted.fit(X, y), repeat=1)
        (seconds,) = best_times(lambda: boosted.predict(X))
        boosted.booster_.save_model(folder / "lightgbm.txt")
        size = (folder / "lightgbm.txt").stat().st_size
        detail = f"{size / 1000:,.0f} kB; fitted in {taken.wall:.2f} s on one core"
        yield stated(f"{name}: LightGBM.predict, µs a row", 1e6 * seconds / len(X), detail)


def told(name: str, clf: Any, table: Table, folder: Path) -> Iterator[Row]:
    """Size of the file, a report and one explained row, each from the loaded file."""
    X, y = table
    clf.save(folder / "model.abnet")
    size = (folder / "model.abnet").stat().st_size
    yield at_most(f"{name}: model file, kB", size / 1000, KILOBYTES, str(clf.model_.card.recipe))
    model = abnet.load(folder / "model.abnet")
    alone, rows, one = best_costs(
        lambda: abnet.write_report(model, folder / "report.html"),
        lambda: abnet.write_report(model, folder / "report.html", X, y),
        lambda: model.explain(X[:1]),
    )
    yield at_most(f"{name}: report from the file alone, s", alone.wall, REPORT, f"CPU {alone.cpu:.2f} s")
    yield at_most(f"{name}: report with {len(X):,} rows, s", rows.wall, REPORT, f"CPU {rows.cpu:.2f} s")
    yield at_most(f"{name}: explain one row, s", one.wall, EXPLAIN, f"CPU {one.cpu:.2f} s")


def rows() -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, table in tables():
            if table is None:
                yield stated(f"{name}: skipped", np.nan, "set ABNET_TABLES to the folder that holds it")
                continue
            yield from fits(name, table)
            if name in TOLD:
                clf = CertifiedClassifier(random_state=0).fit(*table)
                with tempfile.TemporaryDirectory() as folder:
                    yield from exported(name, clf, table[0], Path(folder))
                    yield from told(name, clf, table, Path(folder))
                    yield from peers(name, table, Path(folder))
