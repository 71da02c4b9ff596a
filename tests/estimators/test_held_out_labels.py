"""Labels of held-out rows change neither the weights nor the classes: the training rows alone decide on those."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abnet
from abnet.certificates import split
from abnet.certificates.row_hashing import sums_of_cells
from abnet.estimators import fit as fitting
from abnet.tables import loaded_rows
from promised import promised

N = 120
MOST = 60
SMALL: Any = {"hidden_layer_sizes": (2,), "max_iter": 2, "random_state": 0}
HeldOut = Callable[[np.ndarray], int]


@pytest.fixture
def held_out(monkeypatch: pytest.MonkeyPatch) -> HeldOut:
    """Every fit of the test trains on the rows that trained its first one; returns a row that did not."""
    trained: list[int] = []

    class Pinned(split.Split):
        @classmethod
        def of(cls, hashes: Any, fraction: float, seed: int, groups: Any = None) -> Any:
            if not trained:
                trained.extend(hashes[split.Split.of(hashes, fraction, seed, groups).first].tolist())
            places = {row: place for place, row in enumerate(hashes.tolist())}
            taken = np.array([places[row] for row in trained])
            return split.Split(taken, np.setdiff1d(np.arange(len(hashes)), taken))

    monkeypatch.setattr(fitting, "row_hashes", lambda X, y=None: sums_of_cells(X))
    monkeypatch.setattr(loaded_rows, "hashes_with_labels", lambda cells, y: cells)
    for module in (fitting, loaded_rows):
        monkeypatch.setattr(module, "Split", Pinned)

    def row(X: np.ndarray) -> int:
        return next(place for place, cells in enumerate(sums_of_cells(X).tolist()) if cells not in trained)

    return row


def from_array(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    return abnet.ABNetClassifier(**SMALL).fit(X, np.array([int(label) for label in y]))


def from_texts(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    return abnet.ABNetClassifier(**SMALL).fit(X, np.array(y, object))


def from_frame(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    return abnet.ABNetClassifier(**SMALL).fit(pd.DataFrame(X, columns=["a", "b"]), np.array(y))


def table(X: np.ndarray, y: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def from_csv(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    table(X, y).write_csv(folder / "t.csv")
    return abnet.fit_table(folder / "t.csv", "y", estimator=abnet.ABNetClassifier(**SMALL))


def from_pandas(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    labels = [int(label) if label in ("9", "10") else label for label in y]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": pd.Series(labels, dtype=object)})
    return abnet.fit_table(frame, "y", estimator=abnet.ABNetClassifier(**SMALL))


def from_stream(X: np.ndarray, y: list[Any], folder: Path) -> Any:
    pieces = table(X, y).iter_slices(17)
    return abnet.fit_table(pieces, "y", estimator=abnet.ABNetClassifier(**SMALL), max_learn_rows=MOST)


WAYS: dict[str, tuple[Any, set[str], list[Any]]] = {
    "array": (from_array, {"other"}, [9, 10]),
    "texts": (from_texts, {"other", "unknown"}, ["10", "9"]),
    "frame": (from_frame, {"other", "unknown"}, ["10", "9"]),
    "CSV": (from_csv, {"other", "unknown", "missing", "written otherwise"}, [9, 10]),
    "pandas": (from_pandas, {"other", "unknown", "missing"}, [9, 10]),
    "stream": (from_stream, {"other", "unknown", "missing", "written otherwise"}, [9, 10]),
}
"""How rows are given, which labels a held-out row may then have, and the classes."""


def learned(clf: Any) -> tuple[Any, ...]:
    arrays = {name: array.tobytes() for name, array in clf.model_.predictor.arrays().items()}
    return arrays, clf.classes_.dtype.kind == "i", clf.classes_.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_a_held_out_label_changes_no_weight_and_no_class(way: str, tmp_path: Path, held_out: HeldOut) -> None:
    """As text, 9 comes after 10: a single held-out text must not make texts of the labels."""
    make, kinds, classes = WAYS[way]
    rng = np.random.default_rng(3)
    ten = rng.integers(0, 2, N)
    X = rng.normal(size=(N, 2)).round(3) + 2.0 * ten[:, None]
    y = np.where(ten, "10", "9")
    before = make(X, y.tolist(), tmp_path)
    assert learned(before)[2] == classes
    row = held_out(X)
    counted = promised(before).facts
    for kind in sorted(kinds):
        other = "10"
        if y[row] == "10":
            other = "9"
        label = {"other": other, "unknown": "zz", "missing": None, "written otherwise": f"{y[row]}.0"}[kind]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            after = make(X, [*y[:row].tolist(), label, *y[row + 1 :].tolist()], tmp_path)
        assert learned(after) == learned(before), kind
        seen = promised(after).facts
        assert seen.n_rows == counted.n_rows - (kind == "missing")
        assert ("another label" in seen.classes) == (kind == "unknown")
        if kind == "written otherwise":
            assert seen.class_errors == counted.class_errors


@pytest.mark.parametrize("way", ["array", "CSV"])
def test_a_class_that_only_held_out_rows_have_is_none(way: str, tmp_path: Path, held_out: HeldOut) -> None:
    """Of two labels in all, one may belong to a held-out row alone: declare it, or there is nothing to learn."""
    make = WAYS[way][0]
    X = np.random.default_rng(3).normal(size=(N, 2)).round(3)
    make(X, ["9", "10"] * (N // 2), tmp_path)
    y = ["9"] * N
    y[held_out(X)] = "10"
    with pytest.raises(ValueError, match="9"):
        make(X, y, tmp_path)
    clf = abnet.ABNetClassifier(**SMALL, classes=[10, 9]).fit(X, np.array(y, int))
    assert clf.classes_.tolist() == [10, 9]
    assert promised(clf).per_class[0].n_examples == 1


def test_declared_classes_may_be_written_in_any_way(tmp_path: Path) -> None:
    """A table's labels are matched with the declared ones as text or number; the declared ones keep their type."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(80)))
    for classes in ([1, 0], ["1", "0"]):
        estimator = abnet.ABNetClassifier(**SMALL, classes=classes)
        assert abnet.fit_table(tmp_path / "t.csv", "y", estimator=estimator).classes_.tolist() == classes
