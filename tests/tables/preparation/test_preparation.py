"""What every preparation can be asked, whatever its kind."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from abnet.model.model import Model
from abnet.model.predict_table import predict_table
from abnet.model.predictors.compact import Compact
from abnet.tables.preparation import CodedMap, Preparation, TablePreparation, as_preparation, preparation_to_dict
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from abnet.tables.table import as_table
from abnet.utils.coded_rows import CodedRows, dense

X = np.random.default_rng(0).normal(size=(40, 3)).round(2)
NAMES = ("a", "b", "c")
FRAME = pl.DataFrame(dict(zip(NAMES, X.T, strict=True)))


class OwnTable(TablePreparation):
    """A subclass, which may compute otherwise."""


def kinds() -> dict[str, Preparation]:
    scaler = StandardScaler().fit(X)
    table = TablePreparation().fit(FRAME)
    made: dict[str, Any] = {
        "unprepared": None,
        "standard": scaler,
        "minmax": MinMaxScaler().fit(X),
        "thermometer": ThermometerCodes(4).fit(X),
        "table": table,
        "plain numbers": PlainNumbers().fit(FRAME),
        "coded array": CodedMap.of(as_preparation(scaler), scaler.transform(X)),
        "coded table": CodedMap.of(table.map_, table.transform(FRAME)),
        "foreign": PCA(3).fit(X),
        "foreign table": OwnTable().fit(FRAME),
    }
    return {name: as_preparation(transformer, 3) for name, transformer in made.items()}


KINDS = kinds()


def taken_by(preparation: Preparation) -> Any:
    """The rows as a preparation takes them."""
    if preparation.by_name:
        return FRAME
    return X


@pytest.mark.parametrize("name", KINDS)
def test_sizes_are_those_of_the_features(name: str) -> None:
    preparation = KINDS[name]
    rows = dense(preparation.transform(taken_by(preparation)))
    assert rows.shape == (40, preparation.n_features_out)
    assert preparation.n_features_in == 3
    n_codes = sum(map(len, preparation.codes))
    assert preparation.base.n_features_out == preparation.n_features_out - n_codes
    if preparation.owners is not None:
        assert len(preparation.owners) == preparation.base.n_features_out
    if preparation.feature_names:
        assert len(preparation.feature_names) == preparation.base.n_features_out


@pytest.mark.parametrize("name", KINDS)
def test_inputs_codes_and_tables_are_the_same_features(name: str) -> None:
    preparation = KINDS[name]
    rows = taken_by(preparation)
    expected = dense(preparation.transform(rows))
    np.testing.assert_array_equal(dense(preparation.inputs(rows)), expected)
    np.testing.assert_array_equal(dense(preparation.with_codes(preparation.base.transform(rows))), expected)
    read, reports, columns = preparation.read(as_table(FRAME.select("c", "a", pl.lit(1).alias("more"), "b")), NAMES)
    np.testing.assert_array_equal(dense(read), expected)
    assert reports == []
    assert {column.n_rows for column in columns} <= {FRAME.height}
    assert isinstance(read, CodedRows) == bool(preparation.codes)


@pytest.mark.parametrize("name", KINDS)
def test_an_owner_alone_moves_its_features(name: str) -> None:
    preparation = KINDS[name].base
    if preparation.owners is None:
        return
    for column in range(3):
        moved = X.copy()
        moved[:, column] += 0.5
        moved_rows: Any = moved
        if preparation.by_name:
            moved_rows = dict(zip(NAMES, moved.T, strict=True))
        before = dense(preparation.transform(taken_by(preparation)))
        after = dense(preparation.transform(moved_rows))
        np.testing.assert_array_equal((before != after).any(axis=0), np.array(preparation.owners) == column)


@pytest.mark.parametrize("name", KINDS)
def test_codes_leave_what_is_known_about_columns(name: str) -> None:
    preparation = KINDS[name]
    table = as_table(FRAME.with_columns(pl.lit(1).alias("more")))
    base = preparation.base
    assert not base.codes
    assert base.base is base
    assert preparation.columns == base.columns
    assert preparation.notes == base.notes
    assert preparation.by_name == base.by_name
    of_table = bool(base.columns)
    assert preparation.extra_columns(table) == base.extra_columns(table) == ["more"] * of_table
    assert preparation.describe(NAMES)[: len(base.describe(NAMES))] == base.describe(NAMES)
    empty = as_table(FRAME.with_columns(pl.lit(None).alias("b")))
    assert preparation.empty_columns(empty) == ["b"] * of_table


@pytest.mark.parametrize("name", KINDS)
def test_what_cannot_be_stored_says_why(name: str) -> None:
    preparation = KINDS[name]
    if not preparation.why_not_stored:
        preparation_to_dict(preparation)
        return
    assert name.startswith("foreign")
    with pytest.raises(ValueError, match=r"PCA|OwnTable"):
        preparation_to_dict(preparation)


@pytest.mark.parametrize("name", KINDS)
def test_a_table_is_predicted_as_its_rows(name: str) -> None:
    preparation = KINDS[name]
    W = np.random.default_rng(1).normal(size=(1, 1, preparation.n_features_out))
    model = Model(Compact(W, np.zeros((1, 1)), np.array([[-1.0, 1.0]])), preparation=preparation, feature_names=NAMES)
    expected = model.predict_proba(taken_by(preparation))[:, 1]
    found = predict_table(model, FRAME.select("b", "c", "a"), proba=True).frame
    assert found is not None
    np.testing.assert_array_equal(found["probability_1"].to_numpy(), expected)
    assert np.ptp(expected) > 0.1


def test_a_transformer_without_names_or_sizes_has_none() -> None:
    preparation = as_preparation(FunctionTransformer(), 3)
    assert preparation.n_features_in is None
    assert preparation.feature_names == ()
    assert preparation.owners is None
