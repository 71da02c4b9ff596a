"""The columns that are chosen: what is found, when all are kept, and that no held-out row has a part in it."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet import ABNetClassifier, CertifiedClassifier
from abnet.bounds import clopper_pearson_bound
from abnet.tables.labels import Labels
from abnet.tables.preparation import StandardMap, TablePreparation
from abnet.training.column_choice import LEAST_COLUMNS, choose_columns
from abnet.training.column_ranking import useful_columns
from abnet.training.features import Features
from abnet.training.learned import PreparedRows
from broken_promise import breaks

D = 100


def noise(n: int, d: int = D, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def chosen(X: NDArray[np.float32], codes: NDArray[Any], seed: int = 1, **given: Any) -> set[int] | None:
    found = useful_columns(X, np.arange(X.shape[1]), codes.astype(np.intp), np.random.default_rng(seed), **given)
    if found is None:
        return None
    return set(found.tolist())


def additive(X: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.asarray(X[:, 3] - X[:, 50] + 0.7 * X[:, 77] > 0)


def interacting(X: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Column 50 says nothing alone, and matters only where column 3 is positive."""
    return np.asarray(np.where(X[:, 3] > 0, X[:, 50] > 0, X[:, 77] > 0.5))


def rule(X: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Both tails of columns 3 and 50, and a cut of column 77: a linear model sees the cut alone."""
    return np.asarray((np.abs(X[:, 3]) > 1.5) | (np.abs(X[:, 50]) > 1.7) | (X[:, 77] > 1.5))


@pytest.mark.parametrize("signal", [additive, interacting, rule])
def test_the_columns_that_matter_are_found_among_noise(signal: Any) -> None:
    X = noise(900)
    found = chosen(X, signal(X))
    assert found is not None
    assert found >= {3, 50, 77}
    assert len(found) <= 32


def test_columns_are_kept_if_most_of_them_matter() -> None:
    X = noise(900, 40)
    assert chosen(X, X.sum(axis=1) > 0) is None


def test_several_classes_weights_and_groups() -> None:
    X = noise(900, 80)
    codes = np.digitize(X[:, 3] + X[:, 50], [-0.8, 0.8])
    weights = np.ones(900)
    weights[600:] = 0
    groups = np.repeat(np.arange(90), 10)
    found = chosen(X, codes, weights=weights, groups=groups)
    assert found is not None
    assert found >= {3, 50}
    spoiled = X.copy()
    spoiled[600:] = noise(300, 80, seed=9)
    assert chosen(spoiled, codes, weights=weights, groups=groups) == found  # rows without weight have no part


def test_features_of_one_column_stay_together() -> None:
    X = noise(600, 60)
    owners = np.repeat(np.arange(30), 2)
    codes = (X[:, 11] + X[:, 40] > 0).astype(np.intp)
    found = useful_columns(X, owners, codes, np.random.default_rng(0))
    assert found is not None
    assert {5, 20} <= set(found.tolist())
    assert max(found.tolist()) < 30


@pytest.mark.parametrize("codes", [np.zeros(900), np.repeat([0, 1], [899, 1])])
def test_there_is_no_choice_without_classes_to_tell_apart(codes: NDArray[Any]) -> None:
    chosen(noise(900, 20), codes)  # a class of one row may be among the check rows, or not
    assert chosen(noise(900, 20), np.zeros(900)) is None


def test_few_rows_choose_nothing() -> None:
    X = noise(150)
    assert chosen(X, additive(X)) is None


def prepared(X: NDArray[np.float32], codes: NDArray[Any], n_first: int) -> PreparedRows:
    d = X.shape[1]
    features = Features(X, n_first, StandardMap((0.0,) * d, (1.0,) * d))
    return PreparedRows(features, codes.astype(np.intp), Labels(np.array(["a", "b"])), len(X))


def test_no_held_out_row_has_a_part() -> None:
    X = noise(900)
    codes = additive(X).astype(np.intp)
    settings = CertifiedClassifier().settings()
    one = choose_columns(prepared(X, codes, 500), settings, None, np.random.default_rng(0))
    other_X = X.copy()
    other_X[500:] = 1e3 * noise(400, seed=5)
    other_codes = codes.copy()
    other_codes[500:] = 1 - codes[500:]
    other = choose_columns(prepared(other_X, other_codes, 500), settings, None, np.random.default_rng(0))
    assert one.features.stored == other.features.stored
    assert one.features.stored.left_out
    assert one.features.base[500:].shape == (400, one.features.stored.n_features_in)


def test_features_are_those_of_the_smaller_preparation() -> None:
    X = noise(600)
    scaled = Features(X, 600, StandardMap(tuple(np.full(D, 3.0)), tuple(np.full(D, 7.0))))
    raw = (7.0 * X.astype(np.float64) + 3.0).astype(np.float64)
    base = ((raw - 3.0) / 7.0).astype(np.float32)
    rows = replace(prepared(X, additive(X), 600), features=replace(scaled, base=base))
    features = choose_columns(rows, CertifiedClassifier().settings(), None, np.random.default_rng(0)).features
    assert features.chosen_columns is not None
    assert np.asarray(features.stored.transform(raw), np.float32).tobytes() == features.base.tobytes()


def test_only_wide_tables_with_our_preparation_are_narrowed() -> None:
    X = noise(500)
    rows = prepared(X, additive(X), 500)
    narrow = prepared(X[:, : LEAST_COLUMNS - 1], additive(X), 500)
    ours = CertifiedClassifier().settings()
    rng = np.random.default_rng(0)
    assert choose_columns(narrow, ours, None, rng) is narrow
    assert choose_columns(rows, ABNetClassifier((4,)).settings(), None, rng) is rows
    assert choose_columns(rows, CertifiedClassifier(hidden_layer_sizes=(4,)).settings(), None, rng) is rows
    without = CertifiedClassifier(preprocessor=None).settings()
    assert choose_columns(rows, without, None, rng) is rows
    sparse = replace(rows, features=replace(rows.features, sparse=True))
    assert choose_columns(sparse, ours, None, rng) is sparse
    table = CertifiedClassifier(preprocessor=TablePreparation(use=["x8"])).settings()
    kept = choose_columns(rows, table, None, rng).features.stored
    assert "x8" in {column.name for column in kept.columns}


REPETITIONS = 60
DELTA = 0.3


def failures(*, by_bound_rows: bool) -> int:
    """How often a bound on the error of a classifier of the chosen columns is false; labels are coin tosses.

    With `by_bound_rows` the rows that certify choose the columns, too.
    """
    count = 0
    for seed in range(REPETITIONS):
        X = noise(320, 60, seed)
        codes = np.random.default_rng([seed, 1]).integers(0, 2, 320)
        choosing = slice(200)
        if by_bound_rows:
            choosing = slice(320)
        columns = chosen(X[choosing], codes[choosing])
        places = sorted(columns or range(60))
        rows = X[:200, places]
        labels = codes[:200]
        direction = rows[labels == 1].mean(axis=0) - rows[labels == 0].mean(axis=0)
        predicted = (X[200:, places] @ direction > 0).astype(int)
        bound = clopper_pearson_bound(int(np.sum(predicted != codes[200:])), 120, DELTA)
        count += bound < 0.5
    return count


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few trees and one number of columns: the same steps, many times."""
    module = sys.modules["abnet.training.column_ranking"]
    monkeypatch.setattr(module, "TREES", 4)
    monkeypatch.setattr(module, "LEAST_ROUNDS", 4)
    monkeypatch.setattr(module, "COUNTS", (8,))


@pytest.mark.usefixtures("quick")
def test_a_certificate_holds_for_chosen_columns() -> None:
    assert not breaks(failures(by_bound_rows=False), REPETITIONS, DELTA)


@pytest.mark.usefixtures("quick")
def test_a_choice_by_held_out_rows_would_break_it() -> None:
    assert breaks(failures(by_bound_rows=True), REPETITIONS, DELTA)
