"""What every kind of predictor promises: rows by themselves, arrays there and back, votes of the scores."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from abnet.model.predictors.kinds import kind_of, kinds
from abnet.model.predictors.predictor import Predictor
from conftest import random_network
from model.every_kind import ALL, SEVERAL

CASES = [*((name, 2) for name in ALL), *((name, 3) for name in SEVERAL)]
OPTIONAL = (("moments", "words"), ("table: with error", "score_error"))
"""Arrays without which others make a predictor: one output for each class, and outputs without a stated error."""
each_kind = pytest.mark.parametrize(("kind", "K"), CASES, ids=str)


def make(kind: str, K: int, rng: np.random.Generator) -> Predictor:
    makers, outputs = (ALL, 1) if K == 2 else (SEVERAL, 3)
    return makers[kind](random_network(rng, (4, 6, 5, outputs)), rng)


def test_there_is_one_of_every_kind(rng: np.random.Generator) -> None:
    assert {kind_of(make(kind, K, rng)) for kind, K in CASES} == set(kinds())


@each_kind
def test_a_row_scores_the_same_in_any_company(kind: str, K: int, rng: np.random.Generator) -> None:
    predictor = make(kind, K, rng)
    X = rng.normal(size=(50, 4))
    together = predictor.scores(X)
    order = rng.permutation(50)
    assert predictor.n_classes == K
    assert together.shape == ((50,) if K == 2 else (50, K))
    np.testing.assert_allclose(predictor.scores(X[order]), together[order], atol=1e-12)
    np.testing.assert_allclose([predictor.scores(x[None])[0] for x in X], together, atol=1e-12)
    np.testing.assert_array_equal(predictor.scores(X, threads=3), together)


@each_kind
def test_shares_stay_in_their_range(kind: str, K: int, rng: np.random.Generator) -> None:
    predictor = make(kind, K, rng)
    X = 3 * rng.normal(size=(50, 4))
    if predictor.shares and K == 2:
        assert np.abs(predictor.scores(X)).max() <= 1 + 1e-15
    elif predictor.shares:
        assert predictor.scores(X).min() >= 0
        np.testing.assert_allclose(predictor.scores(X).sum(axis=1), 1, atol=1e-12)
    assert (predictor.n_paths is not None) == (predictor.vote == "kept paths")


@each_kind
def test_arrays_give_the_predictor_back_and_others_are_refused(kind: str, K: int, rng: np.random.Generator) -> None:
    predictor = make(kind, K, rng)
    X = rng.normal(size=(20, 4))
    arrays = predictor.arrays()
    again = type(predictor).from_arrays(arrays)
    np.testing.assert_array_equal(again.scores(X), predictor.scores(X))
    for name in arrays:
        bad: Any
        for bad in (arrays[name][:-1], arrays[name].astype(np.int16), arrays[name][None]):
            with pytest.raises(ValueError, match=r"array|table|words|layers"):
                type(predictor).from_arrays({**arrays, name: bad})
        if (kind, name) not in OPTIONAL:
            with pytest.raises(ValueError, match=r"array|words"):
                type(predictor).from_arrays({k: v for k, v in arrays.items() if k != name})
    with pytest.raises(ValueError, match="array"):
        type(predictor).from_arrays({})


@each_kind
def test_votes_are_those_of_the_scores(kind: str, K: int, rng: np.random.Generator) -> None:
    predictor = make(kind, K, rng)
    X = rng.normal(size=(50, 4))
    scores = predictor.scores(X)
    np.testing.assert_array_equal(predictor.votes(X), scores >= 0 if K == 2 else scores.argmax(axis=1))


@each_kind
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\).*\(rows, 4\)"),
        ([1.0, 2.0, 3.0], r"shape \(3,\)"),
        ([[1.0, np.nan, 2.0, 0.0]], "row 0"),
        ([[1.0, 2.0, 3.0, 4.0], [np.inf, 0.0, 0.0, 0.0]], "row 1"),
        ([[1.0, 2.0, 3.0, 4.0], [1e39, 0.0, 0.0, 0.0]], "row 1"),
        ([["a", "b", "c", "d"]], "numbers"),
    ],
)
def test_impossible_rows_are_refused(kind: str, K: int, rows: list, message: str, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=message):
        make(kind, K, rng).votes(rows)


@each_kind
def test_sparse_integer_and_single_precision_rows_are_taken(kind: str, K: int, rng: np.random.Generator) -> None:
    predictor = make(kind, K, rng)
    X = rng.integers(0, 3, (30, 4))
    expected = predictor.scores(X.astype(float))
    same: Any
    for same in (X, X.astype(np.float32), csr_array(X), X.tolist()):
        np.testing.assert_array_equal(predictor.scores(same), expected)


@each_kind
def test_no_rows_give_no_scores(kind: str, K: int, rng: np.random.Generator) -> None:
    assert make(kind, K, rng).votes(np.empty((0, 4))).shape == (0,)


def test_a_predictor_without_from_arrays_cannot_be_made() -> None:
    class Unreadable(Predictor):
        n_inputs = 1
        n_classes = 2

        def score_rows(self, X: Any) -> Any:
            return X[:, 0]

        def arrays(self) -> dict[str, Any]:
            return {}

    with pytest.raises(TypeError, match="from_arrays"):
        Unreadable()  # type: ignore[abstract]
