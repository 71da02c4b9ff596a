"""Rows that a model learned from are found in large tables, beside unreadable rows, and in a sample of the filter."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import abnet
from abnet.certificates import fitted_rows
from abnet.certificates.fitted_rows import FittedRows, row_filter
from abnet.tables.preparation import UnseenWarning
from abnet.utils.errors import TrainingRowsError

QUICK: dict[str, Any] = {"max_iter": 1, "random_state": 0}


def test_of_many_rows_a_part_is_kept_and_finds_the_fit(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitted_rows, "MOST_ROWS", 500)
    X = rng.normal(size=(4000, 3)).astype(np.float32)
    y = np.ones(4000)
    made = row_filter(X, y, 2400)
    assert made is not None
    assert made.rows == 500
    again = FittedRows(made)
    new = FittedRows(made)
    again.add(X, y)
    new.add(rng.normal(size=(4000, 3)).astype(np.float32), y)
    assert again.reused
    assert not new.reused


def test_of_many_rows_those_of_every_part_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound rows come after the training rows, so a filter of the first rows would not know them."""
    monkeypatch.setattr(fitted_rows, "MOST_ROWS", 500)
    X = np.random.default_rng(0).normal(size=(4000, 3)).astype(np.float32)
    y = np.ones(4000)
    made = row_filter(X, y)
    assert made is not None
    for part in (slice(0, 1000), slice(1500, 2500), slice(3000, 4000)):
        seen = FittedRows(made)
        seen.add(X[part], y[part])
        assert seen.reused


def test_one_unreadable_row_hides_no_others(rng: np.random.Generator) -> None:
    frame = pl.DataFrame({"a": rng.normal(size=200).round(3).astype(str), "b": rng.normal(size=200).round(3)})
    y = np.where(frame["b"].to_numpy() > 0, "yes", "no")
    clf = abnet.ABNetClassifier((2,), preprocessor="table", **QUICK).fit(frame, y)
    odd = pl.concat([frame, pl.DataFrame({"a": ["oops"], "b": [0.5]})])
    with pytest.warns(UnseenWarning, match="oops"), pytest.raises(TrainingRowsError):
        abnet.certify(clf, odd, np.append(y, "no"))


def test_groups_are_bet_on_in_an_order_that_is_drawn() -> None:
    """With a fixed key the bound of groups that differ in their labels alone was a function of the counts."""
    X = np.zeros((40, 1))
    groups = np.repeat(np.arange(20), 2)
    y = np.repeat(np.arange(20) < 3, 2).astype(int)
    bounds = {abnet.certify(lambda rows: [0] * len(rows), X, y, groups=groups).vote_error_bound for _ in range(30)}  # type: ignore[union-attr]
    assert len(bounds) > 1
    fixed = [abnet.certify(lambda rows: [0] * len(rows), X, y, groups=groups, random_state=1) for _ in range(2)]
    assert fixed[0] == fixed[1]


@pytest.mark.parametrize("weight", [float("nan"), -1.0, float("inf"), "2"])
def test_weights_of_classes_are_numbers(weight: Any, rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 2))
    with pytest.raises(ValueError, match="yes"):
        abnet.CertifiedClassifier((2,), class_weight={"yes": weight}, **QUICK).fit(
            X, np.where(X[:, 0] > 0, "yes", "no")
        )


# In the shapes of tests/estimators/test_every_classifier.py: each new one costs a compilation.
@pytest.mark.parametrize(
    "clf",
    [
        abnet.EBPClassifier((2,), **QUICK),
        abnet.BinaryConnectClassifier((6,), batch_size=4, **QUICK),
        abnet.BNNClassifier((8,), batch_size=4, **QUICK),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_the_comparison_methods_keep_a_filter_too(clf: Any, rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    clf.fit(X, y)
    with pytest.raises(TrainingRowsError):
        abnet.certify(clf, X, y)
    new = rng.normal(size=(80, 3))
    assert abnet.certify(clf, new, np.where(new[:, 0] > 0, "yes", "no")) is not None


def test_a_copy_in_float32_is_found_after_scaling(rng: np.random.Generator) -> None:
    X = rng.normal(5.0, 2.0, size=(200, 20))
    y = np.where(X[:, 0] > 5, "yes", "no")
    clf = abnet.ABNetClassifier((2,), preprocessor="standardise", **QUICK).fit(X, y)
    with pytest.raises(TrainingRowsError):
        abnet.certify(clf, X.astype(np.float32), y)


def test_rows_are_found_whatever_answers_for_the_model(rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = abnet.EBPClassifier((2,), **QUICK).fit(X, y)
    asked: list[Any] = [clf, clf.predict, partial(clf.predict), clf.model_.vote, FrozenEstimator(clf)]
    asked.append(make_pipeline(FunctionTransformer(), FrozenEstimator(clf)).fit(X, y).predict)
    asked.append(FixedThresholdClassifier(FrozenEstimator(clf), response_method="decision_function").fit(X, y))
    for model in asked:
        with pytest.raises(TrainingRowsError):
            abnet.certify(model, X, y)
        with pytest.raises(TrainingRowsError):
            abnet.compare_errors(clf.predict, model, X, y)


@pytest.mark.parametrize("kind", [float, bool, object, list])
def test_rows_are_found_whatever_the_type_of_their_labels(kind: type, rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = abnet.EBPClassifier((2,), **QUICK).fit(X, y)
    labels: Any = [*y.tolist(), "another"] if kind is list else y.astype(kind)
    with pytest.raises(TrainingRowsError):
        abnet.certify(clf, np.r_[X, X[:1]][: len(labels)], labels)
