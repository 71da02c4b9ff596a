"""Rows as dicts give the answers of the same rows as a frame or an array."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.tables.preparation.coded import CodedMap
from export import models

pytestmark = pytest.mark.filterwarnings("ignore::abnet.tables.unseen.UnseenWarning")


@pytest.mark.parametrize("coded", [False, True])
def test_rows_of_a_table(coded: bool) -> None:
    table: Any = models.columns()
    names = [column.name for column in table.columns]
    if coded:
        table = CodedMap(table, ((-0.5, 0.75), *[()] * (table.n_features_out - 1)))
    else:
        table = table
    model = models.model("classes", table.n_features_out, preparation=table)
    frame = models.with_dates(models.table(30, names), names[5]).with_columns(more=pl.lit(1))
    rows = frame.to_dicts()
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(frame))
    np.testing.assert_array_equal(model.predict(rows[3]), model.predict(frame[3]))
    with pytest.raises(ValueError, match=r"row 1 .*'age'"):
        model.predict([rows[0], {name: cell for name, cell in rows[1].items() if name != "age"}])
    np.testing.assert_array_equal(model.predict([rows[0], rows[1] | {"note": "x"}]), model.predict(frame[:2]))
    for wrong, told in (([rows[0], 5], "row 1"), ([rows[0] | {"age": [1, 2]}], "row 0, column 'age'"), ([], "rows")):
        with pytest.raises(ValueError, match=told):
            model.predict(wrong)
    with pytest.raises(ValueError, match="age"):
        model.predict({name: cell for name, cell in rows[1].items() if name != "age"})


def test_rows_of_an_array() -> None:
    model = models.model("compact", 2, feature_names=("b", "a"))
    assert model.scores([{"a": 1, "b": 2.5, "c": "x"}]).tolist() == model.scores([[2.5, 1.0]]).tolist()
    assert model.scores({"a": 1, "b": 2.5}).tolist() == model.scores([[2.5, 1.0]]).tolist()
    assert model.scores({"a": [1, 2], "b": [2.5, 0]}).tolist() == model.scores([[2.5, 1.0], [0.0, 2.0]]).tolist()
    for row, told in (({"a": 1}, "'b'"), ({"a": "old", "b": 1}, "'a'"), ({"a": None, "b": 1}, "NaN")):
        with pytest.raises(ValueError, match=told):
            model.predict(row)
    with pytest.raises(ValueError, match="names"):
        models.model("compact", 2).predict({"a": 1, "b": 2})
    with pytest.raises(ValueError, match="names"):
        models.model("compact", 2).predict({"a": [1], "b": [2]})
