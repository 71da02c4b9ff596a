"""From the rows of a table to what a loaded model takes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet.compact import Predictor
from abnet.data.preparation.columns import numbers
from abnet.data.preparation.table_map import TableMap
from abnet.data.preparation.unseen import Unseen
from abnet.data.tables.cells import to_text
from abnet.data.tables.error import TableError, listed, row_name

__all__ = ["refuse_unseen", "scores"]


def scores(model: Predictor, frame: pd.DataFrame) -> tuple[NDArray[np.float64], list[Unseen]]:
    """``F(x)`` of every row, and the categories that training never saw."""
    preparation = model.info.preparation
    if isinstance(preparation, TableMap):
        prepared, reports = preparation.transform_reporting(frame)
        return model.score_prepared(prepared), reports
    return model.decision_function(_numeric(model, frame)), []


def _numeric(model: Predictor, frame: pd.DataFrame) -> NDArray[np.float64]:
    """Columns as numbers, for a model that was learned from an array."""
    names = model.feature_names_in_ or tuple(frame.columns)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise TableError(f"the table lacks {listed(absent)}, which the model was trained on.")
    preparation = model.info.preparation
    taken = model.n_inputs if preparation is None else preparation.n_features_in
    if len(names) != taken:
        raise TableError(
            f"the table has {len(names)} columns, the model takes {taken} and knows no names; remove the others."
        )
    matrix = np.column_stack([numbers(frame[name]) for name in names])
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        row, column = missing[0]
        where = f"column {names[column]!r}, {row_name(frame.index, int(row))}"
        raise TableError(f"{where}: a missing value, which this model has no rule for; fill it in.")
    return matrix


def refuse_unseen(frame: pd.DataFrame, reports: list[Unseen]) -> None:
    """An error for the first category that training never saw, or date that cannot be read, with its place."""
    for report in reports:
        value = next(iter(report.rows))
        texts = np.array([to_text(cell) for cell in frame[report.column].tolist()])
        where = row_name(frame.index, int(np.argmax(texts == value)))
        wrong = f"cannot be read as {report.order}" if report.order else "was not seen in training"
        rest = "missing" if report.order else "unknown"
        raise TableError(
            f"column {report.column!r}, {where}: {value!r} {wrong}; correct it, or use --unseen warn to treat such "
            f"values as {rest}."
        )


def strangers(model: Predictor, frame: pd.DataFrame) -> list[str]:
    """Columns that the model does not use, but for its target."""
    preparation: Any = model.info.preparation
    extra = preparation.extra_columns(frame) if isinstance(preparation, TableMap) else []
    return [name for name in extra if name != model.info.details.get("target")]
