"""A single enormous cell does not spoil its column: the others are scaled as if it were not there, with a note."""

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet import CertifiedClassifier
from abnet.estimators.logistic_rival import logistic_regression
from abnet.tables.columns import CLIP, DateColumn, NumericColumn, far_cells
from abnet.tables.notes import NoteWarning
from abnet.tables.preparation import StandardMap, TablePreparation
from abnet.tables.preparation.array_checks import has_far_cells
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.table import as_table

RNG = np.random.default_rng(0)
X = RNG.normal(np.array([10.0, 0.0, 5.0]), size=(200, 3)).round(3)


def spoiled(value: float) -> Any:
    rows = X.copy()
    rows[7, 0] = value
    return rows


@pytest.mark.parametrize("value", [1e10, -1e10, 1e30, 1e149])
@pytest.mark.parametrize("made", [TablePreparation, lambda: PlainNumbers(scaled=True)], ids=["table", "plain"])
def test_the_other_cells_are_scaled_without_it(made: Any, value: float) -> None:
    names = ("a", "b", "c")
    frame, usual = (pl.DataFrame(rows, schema=names) for rows in (spoiled(value), np.delete(X, 7, axis=0)))
    fitted = made().fit(frame)
    without = made().fit(usual)
    assert fitted.map_.columns[0].mean == pytest.approx(without.map_.columns[0].mean)
    assert fitted.map_.columns[0].scale == pytest.approx(without.map_.columns[0].scale)
    features = fitted.transform(frame)
    assert len(np.unique(features[:, 0])) == len(np.unique(frame["a"]))
    assert features[7, 0] == np.sign(value) * CLIP
    (note,) = fitted.notes_
    assert note.columns == ("a",)
    assert f"{value:g}" in str(note)


def test_columns_without_such_cells_keep_every_bit() -> None:
    heavy = np.exp(3 * RNG.normal(size=2000))  # the largest is thousands of times the median
    rare = np.where(RNG.random(2000) < 0.01, 1e5 * RNG.random(2000), 0.0)
    fitted = TablePreparation().fit({"heavy": heavy, "rare": rare})
    assert not fitted.notes_
    for column, x in zip(fitted.map_.columns, (heavy, rare), strict=True):
        assert isinstance(column, NumericColumn)
        assert (column.mean, column.scale) == (float(x.mean()), float(x.std()))


def test_values_beside_rounded_zeros_are_not_far() -> None:
    """Most of the cells are zero but for rounding, and the others are what the column is about."""
    x = np.where(RNG.random(2000) < 0.4, RNG.normal(size=2000), 1e-17 * RNG.normal(size=2000))
    fitted = TablePreparation().fit({"x": x})
    assert not fitted.notes_
    (column,) = fitted.map_.columns
    assert isinstance(column, NumericColumn)
    assert column.scale == float(x.std())
    assert not has_far_cells(x[:, None])


@pytest.mark.parametrize("n", [5, 40, 200, 4_001, 50_000])
def test_one_far_cell_is_found_among_any_number_of_rows(n: int) -> None:
    x = RNG.normal(size=n)
    assert not has_far_cells(x[:, None])
    x[n // 3] = -1e12
    assert far_cells(x).sum() == 1
    assert has_far_cells(x[:, None])


def test_logistic_regression_beside_the_model_is_not_spoiled_either() -> None:
    frame, clean = (pl.DataFrame(rows, schema=("a", "b", "c")) for rows in (spoiled(1e12), X))
    fitted = TablePreparation().fit(frame)
    y = X[:, 1] > 0
    model = logistic_regression().fit(fitted.transform(frame), y)
    assert np.mean(model.predict(fitted.transform(clean)) == y) > 0.95


def test_dates_too() -> None:
    days = [f"2024-03-01 12:00:{second:02}" for second in range(60)] * 2
    (column,) = TablePreparation().fit({"when": [*days, "9999-12-31"]}).map_.columns
    assert isinstance(column, DateColumn)
    assert column.scale is not None
    assert column.scale < 1


def test_a_classifier_of_arrays_warns_and_learns() -> None:
    y = X[:, 0] > 10
    settings: dict[str, Any] = {"random_state": 0, "teacher": None, "n_estimators": 1, "max_iter": 40}
    rows = spoiled(1e10)
    rows[8:12, 0] = 1e10  # some of them are training rows
    with pytest.warns(NoteWarning, match=r"'x0'.*1e\+10"):
        clf = CertifiedClassifier(**settings).fit(rows, y)
    assert np.mean(clf.predict(X) == y) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoteWarning)
        assert isinstance(CertifiedClassifier(**settings).fit(X, y).model_.preparation.base, StandardMap)


def codes(values: dict[float, int]) -> list[str]:
    """Codes of the notes on whole numbers, given with their rows."""
    x = np.repeat(list(values), list(values.values()))
    return [note.code for note in TablePreparation().fit({"q": x}).notes_]


@pytest.mark.parametrize(
    "values",
    [
        {-9: 3, 1: 20, 2: 30, 3: 20, 4: 9, 5: 9, 6: 2},
        {-9: 20, -8: 4, 0: 20, 1: 30},
        {9: 9, 1: 20, 2: 30, 3: 20, 4: 9, 5: 8},
    ],
)
def test_a_code_for_missing_among_a_few_whole_numbers_is_noted_and_not_changed(values: dict[float, int]) -> None:
    assert codes(values) == ["code for missing"]
    x = np.repeat(list(values), list(values.values()))
    map_ = TablePreparation().fit({"q": x}).map_
    numbers = map_.columns[0].raw(as_table({"q": x}))
    assert numbers is not None
    assert np.array_equal(np.unique(numbers), sorted(values))


@pytest.mark.parametrize(
    "values",
    [
        {0: 1000, 1: 170, 2: 110, 3: 8, 4: 6, 5: 6, 6: 2, 9: 2},
        {-1: 40, 0: 20, 1: 30},
        {-9: 2, -5: 3, -1: 4, 0: 20, 3: 9},
        dict.fromkeys(range(1, 11), 20),
        dict.fromkeys(range(-9, 10), 5),
    ],
)
def test_counts_and_scales_are_no_codes_for_missing(values: dict[float, int]) -> None:
    assert codes(values) == []
