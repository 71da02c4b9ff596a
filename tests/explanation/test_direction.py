"""Which way columns move the answers, and the cells that prepared rows come from."""

from typing import Any

import numpy as np
import pytest

from abnet.explanation import explain_model
from abnet.explanation.background import column_layout
from abnet.explanation.restored_cells import MISSING, OTHER, restore_cells
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.cells import is_blank
from abnet.tables.columns import DateColumn, NumericColumn, TextColumn
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.tables.preparation.table_map import TableMap
from explanation.test_rows import NAMES, UNSEEN, table, tabular
from export.models import model as exported


@pytest.mark.filterwarnings(UNSEEN)
def test_cells_come_back_from_the_features() -> None:
    """Every kind of column: numbers to seven digits, dates to the day, categories and truths as they are."""
    model = tabular("compact", NAMES)
    rows = table(40, NAMES, seed=3)
    assert isinstance(model.preparation, CodedMap)
    base = model.preparation.base
    assert isinstance(base, TableMap)
    features = base.transform(rows)
    cells_of = dict(zip(column_layout(model).names, restore_cells(model, features), strict=True))
    compared = 0
    for column in base.columns:
        cells = cells_of[column.name]
        if isinstance(column, NumericColumn | DateColumn):
            assert cells.numbers is not None
            raw = column.raw(base._table(rows))
            numbers = cells.numbers
            np.testing.assert_array_equal(np.isnan(numbers), np.isnan(raw) & column.indicator)
            both = ~np.isnan(raw)
            offset = 0
            if isinstance(column, NumericColumn):
                offset = column.form.offset
            np.testing.assert_allclose(numbers[both], raw[both] + offset, rtol=1e-5, atol=1e-3)
            compared += int(both.sum())
        elif isinstance(column, TextColumn):
            for cell, category in zip(rows[column.name].to_list(), cells.categories or (), strict=True):
                assert (category == MISSING) == (is_blank(cell) and column.missing)
                assert is_blank(cell) or category in (cell.strip(), OTHER)
    assert compared > 50


def test_scaled_arrays_come_back(rng: np.random.Generator) -> None:
    X = rng.normal(size=(6, 2)) * 50 + 7
    bases: list[Any] = [StandardMap((7.0, 3.0), (50.0, 2.0)), MinMaxMap((0.01, 0.5), (0.2, 1.0), None)]
    for base in bases:
        model = exported("compact", 2, preparation=base)
        for j, cells in enumerate(restore_cells(model, base.transform(X))):
            assert cells.numbers is not None
            np.testing.assert_allclose(cells.numbers, X[:, j])


def test_the_effect_of_categories_names_the_highest_and_the_lowest(rng: np.random.Generator) -> None:
    base = TableMap((TextColumn("colour", ("red", "green", "blue"), (), False),))
    model = Model(Compact(np.array([[[2.0, 0.0, -2.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), preparation=base)
    rows = {"colour": rng.choice(["red", "green", "blue"], 60)}
    explanation = explain_model(model, rows, background={"colour": ["red", "green", "blue"]})
    column = explanation.importance[0]
    assert [effect.name for effect in explanation.category_effects(column)] == ["red", "green", "blue"]
    assert explanation.effect(column).index("red") < explanation.effect(column).index("blue")
    assert "green" not in explanation.effect(column)
    alike = {name: explanation.contributions[rows["colour"] == name, 0, 0] for name in ("red", "blue")}
    for effect in explanation.category_effects(column)[::2]:
        assert effect.contribution == pytest.approx(alike[effect.name].mean())
