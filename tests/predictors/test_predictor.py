"""What every kind of predictor promises: rows by themselves, arrays there and back, labels from scores."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from abnet.files import model_file
from abnet.predictors.predictor import ModelInfo, Predictor
from conftest import random_network
from files.predictors import ALL

each_kind = pytest.mark.parametrize("kind", ALL)
SCORES_ONLY = {"binary network", "drawn network"}


def make(kind: str, rng: np.random.Generator, sizes: tuple[int, ...] = (4, 6, 5, 1), **info: Any) -> Any:
    return ALL[kind](random_network(rng, sizes), rng, ModelInfo(**info))


def test_there_is_one_of_every_kind() -> None:
    assert set(ALL) == set(model_file._HOMES)


@each_kind
def test_a_row_scores_the_same_in_any_company(kind: str, rng: np.random.Generator) -> None:
    predictor, X = make(kind, rng), rng.normal(size=(50, 4))
    together = predictor.decision_function(X)
    order = rng.permutation(50)
    np.testing.assert_allclose(predictor.decision_function(X[order]), together[order], atol=1e-12)
    np.testing.assert_allclose([predictor.decision_function(x[None])[0] for x in X], together, atol=1e-12)
    assert kind == "binary network" or np.abs(together).max() <= 1 + 1e-15


@each_kind
def test_arrays_give_the_predictor_back_and_others_are_refused(kind: str, rng: np.random.Generator) -> None:
    predictor, X = make(kind, rng), rng.normal(size=(20, 4))
    arrays = predictor.arrays()
    again = type(predictor).from_arrays(arrays, ModelInfo())
    np.testing.assert_array_equal(again.decision_function(X), predictor.decision_function(X))
    for name in arrays:
        bad: Any
        for bad in (arrays[name][:-1], arrays[name].astype(np.int16), arrays[name][None]):
            with pytest.raises(ValueError, match=r"array|table|hidden"):
                type(predictor).from_arrays({**arrays, name: bad}, ModelInfo())
        with pytest.raises(ValueError, match="array"):
            type(predictor).from_arrays({k: v for k, v in arrays.items() if k != name}, ModelInfo())
    with pytest.raises(ValueError, match="array"):
        type(predictor).from_arrays({}, ModelInfo())


@each_kind
def test_labels_are_those_of_the_scores(kind: str, rng: np.random.Generator) -> None:
    model, X = make(kind, rng, labels=np.array(["no", "yes"])), rng.normal(size=(50, 4))
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) >= 0)


@each_kind
def test_shares_are_given_where_scores_are_shares(kind: str, rng: np.random.Generator) -> None:
    model, X = make(kind, rng), rng.normal(size=(50, 4))
    if kind in SCORES_ONLY:
        for ask in (lambda: model.predict_proba(X), lambda: model.shares_from_scores(np.zeros(2))):
            with pytest.raises(ValueError, match="gives no probabilities"):
                ask()
        return
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p.min() >= 0
    np.testing.assert_allclose(p[:, 1] - p[:, 0], model.decision_function(X), atol=1e-15)


@each_kind
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\).*\(rows, 4\)"),
        ([1.0, 2.0, 3.0], r"shape \(3,\)"),
        ([[1.0, np.nan, 2.0, 0.0]], "NaN, infinity or a value too large for float32 in row 0"),
        ([[1.0, 2.0, 3.0, 4.0], [np.inf, 0.0, 0.0, 0.0]], "NaN, infinity or a value too large for float32 in row 1"),
        ([["a", "b", "c", "d"]], "expects numbers"),
    ],
)
def test_impossible_rows_are_refused(kind: str, rows: list, message: str, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=message):
        make(kind, rng).predict(rows)


@each_kind
def test_sparse_integer_and_single_precision_rows_are_taken(kind: str, rng: np.random.Generator) -> None:
    model, X = make(kind, rng), rng.integers(0, 3, (30, 4))
    expected = model.decision_function(X.astype(float))
    same: Any
    for same in (X, X.astype(np.float32), csr_array(X), X.tolist()):
        np.testing.assert_array_equal(model.decision_function(same), expected)


@each_kind
def test_no_rows_give_no_scores(kind: str, rng: np.random.Generator) -> None:
    assert make(kind, rng).predict(np.empty((0, 4))).shape == (0,)


@each_kind
def test_more_than_two_labels_are_refused(kind: str, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=r"there are 3 labels|3 classes"):
        make(kind, rng, labels=np.array(["a", "b", "c"]))


def test_a_predictor_without_from_arrays_cannot_be_made() -> None:
    class Unreadable(Predictor):
        n_inputs = 1

        def score_rows(self, X: Any) -> Any:
            return X[:, 0]

        def arrays(self) -> dict[str, Any]:
            return {}

    with pytest.raises(TypeError, match="from_arrays"):
        Unreadable()  # type: ignore[abstract]
