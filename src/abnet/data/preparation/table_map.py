"""A fitted preparation of tables: plain values, pandas and NumPy alone."""

import dataclasses
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet import records
from abnet.data.preparation.columns import Column, DateColumn, column_from_dict
from abnet.data.preparation.unseen import Unseen, UnseenWarning
from abnet.data.tables.error import TableError, listed

__all__ = ["TableMap", "as_frame"]


def as_frame(X: Any) -> pd.DataFrame:
    """A pandas frame from a pandas or polars frame, or from an array (columns ``x0``, ``x1``, …)."""
    if isinstance(X, pd.DataFrame):
        return X if all(isinstance(name, str) for name in X.columns) else X.set_axis(list(map(str, X.columns)), axis=1)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.DataFrame):
        return pd.DataFrame(X.to_dict(as_series=False))
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions (rows, columns); got an array of shape {array.shape}.")
    return pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])]).infer_objects()


@dataclass(frozen=True)
class TableMap:
    """Columns kept, in order, and those dropped with the reason.

    The only code that turns a table into features: `TablePreparation` uses it after fitting, and a loaded model uses it
    too, so that both give the same bits.
    """

    columns: tuple[Column, ...]
    dropped: Mapping[str, str]

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.columns)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(len(column.features) for column in self.columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, in order."""
        return np.array([feature for column in self.columns for feature in column.features], object)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features (n, d) of a table; an `UnseenWarning` per column with new categories or unreadable dates."""
        features, reports = self.transform_reporting(X)
        for report in reports:
            warnings.warn(str(report), UnseenWarning, stacklevel=2)
        return features

    def transform_reporting(self, X: Any) -> tuple[NDArray[np.float32], list[Unseen]]:
        """Features (n, d) of a table and a report per column with new categories or unreadable dates.

        Columns are found by name; their order and further columns do not matter. A missing one is an error.
        """
        frame = as_frame(X)
        absent = [column.name for column in self.columns if column.name not in frame.columns]
        if absent:
            raise TableError(
                f"the table lacks {listed(absent)}, which the model was trained on; "
                f"its columns are {listed(frame.columns)}."
            )
        out = np.empty((len(frame), sum(len(column.features) for column in self.columns)), np.float32)
        reports, start = [], 0
        for column in self.columns:
            features, unseen = column.encode(frame[column.name])
            out[:, start : start + features.shape[1]] = features
            start += features.shape[1]
            if unseen:
                reports.append(Unseen(column.name, unseen, _order(column)))
        return out, reports

    def extra_columns(self, X: Any) -> list[str]:
        """Columns of a table that fitting never met; `transform` passes them over."""
        known = {column.name for column in self.columns} | set(self.dropped)
        return [str(name) for name in as_frame(X).columns if name not in known]

    def describe(self) -> list[str]:
        """A line per column, for a person."""
        kept = [f"{column.name}: {_kind_of(column)}, {_counted(column.features)}" for column in self.columns]
        return kept + [f"{name}: left out, {reason}" for name, reason in self.dropped.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        columns = [{"kind": column.kind, **_listed(dataclasses.asdict(column))} for column in self.columns]
        return {"kind": "table", "version": 1, "columns": columns, "dropped": dict(self.dropped)}

    @classmethod
    def from_dict(cls, record: Any) -> "TableMap":
        """The map stored in a record; ValueError if anything in it is not as `to_dict` writes it."""
        where = "stored preparation: table"
        fields = records.take(where, record, kind=_kind, version=_version, columns=_columns, dropped=_dropped)
        columns, dropped = fields["columns"], fields["dropped"]
        names = [column.name for column in columns]
        if len(set(names)) < len(names) or set(names) & set(dropped):
            raise ValueError(f"{where}.columns and {where}.dropped name a column twice.")
        return cls(columns, dropped)


def _order(column: Column) -> str:
    return column.order if isinstance(column, DateColumn) else ""


def _kind_of(column: Column) -> str:
    return f"{column.kind} ({_order(column)})" if _order(column) else column.kind


def _counted(features: tuple[str, ...]) -> str:
    return f"{len(features)} feature{'s' * (len(features) != 1)}"


def _listed(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def _kind(where: str, value: Any) -> str:
    return str(records.one_of("table")(where, value))


def _version(where: str, value: Any) -> int:
    if type(value) is not int or value != 1:
        raise records.refusal(where, "be 1, the only version this release reads", value)
    return 1


def _columns(where: str, value: Any) -> tuple[Column, ...]:
    if not isinstance(value, list) or not value:
        raise records.refusal(where, "be a list of at least one column", value)
    return tuple(column_from_dict(record, f"{where}[{i}]") for i, record in enumerate(value))


def _dropped(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise records.refusal(where, "be a record of reasons", value)
    return {records.text(where, name): records.text(f"{where}[{name!r}]", reason) for name, reason in value.items()}
