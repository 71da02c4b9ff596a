"""Read the rows of a table for a model: batches of any table, prepared, and values that are new to the model."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abnet.model.file import load
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.tables.file_batches import batches
from abnet.tables.polars_frames import alike, as_polars
from abnet.tables.preparation.input_shift import ColumnCheck, InputTally
from abnet.tables.preparation.preparation import Read
from abnet.tables.table import Table
from abnet.tables.unseen import Unseen
from abnet.utils.caller_rows import is_frame

if TYPE_CHECKING:
    import polars

__all__ = ["InputWatch", "ModelOrPath", "ROWS", "as_model", "frames_of", "prepared", "unused_columns", "whole_table"]

ROWS = 50_000
"""Rows that are worked on at a time."""


ModelOrPath = Model | FittedClassifier | str | os.PathLike[str]
"""A loaded model, a fitted classifier or a model file."""


def as_model(model: ModelOrPath) -> Model:
    """Return a model unchanged, the model of a fitted classifier, or the model in a file."""
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    return model_of(model)


def frames_of(
    table: Any,
    *,
    rows: int | None = None,
    progress: Callable[[float], None] | None = None,
    ragged: dict[int, str] | None = None,
) -> "Iterator[polars.DataFrame]":
    """A table in frames of at most `rows` rows.

    Parameters
    ----------
    table : path, frame, or iterable of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas, or records of columns.
    rows : int, optional
    progress : callable, optional
        Called with the fraction of the table that has been read.
    ragged : dict, optional
        As in `abnet.tables.batches`.

    Examples
    --------
    >>> [frame.height for frame in frames_of({"x": [1, 2, 3]}, rows=2)]
    [2, 1]
    """
    if rows is None:
        rows = ROWS
    if isinstance(table, (str, os.PathLike)):
        yield from batches(table, rows=rows, progress=progress, ragged=ragged)
        return
    if isinstance(table, Mapping) or is_frame(table):
        frame = as_polars(table)
        for start in range(0, frame.height, rows):
            if progress is not None:
                progress(start / frame.height)
            yield frame.slice(start, rows)
        return
    # How many frames will come is not known, so there is no progress to tell.
    for frame in alike(map(as_polars, table)):
        for start in range(0, frame.height, rows):
            yield frame.slice(start, rows)


def whole_table(table: Any) -> "polars.DataFrame":
    """All rows of a table in one frame."""
    import polars as pl

    return pl.concat(list(frames_of(table)), rechunk=True)


def prepared(model: Model, frame: Table) -> Read:
    """Inputs of the network for every row, without writing out codes, and values that do not occur in training."""
    return model.preparation.read(frame, model.feature_names)


class InputWatch:
    """Compares the columns of a table with the training rows, batch by batch.

    Parameters
    ----------
    model : Model
        One that stores nothing about its training rows is not watched.
    """

    def __init__(self, model: Model) -> None:
        training = model.card.training_inputs
        self._tally: InputTally | None = None
        if training is not None:
            self._tally = InputTally(training, model.preparation.columns)

    def add(self, read: Read) -> None:
        """Count further rows."""
        if self._tally is not None:
            self._tally.add(read.columns)

    def check(self, unseen: Sequence[Unseen]) -> list[ColumnCheck]:
        """The comparison of every column so far; empty if nothing is known about the columns."""
        if self._tally is None:
            return []
        return self._tally.check(unseen)


def unused_columns(model: Model, frame: Table) -> list[str]:
    """Columns that the model does not use, except those of its target, groups and times."""
    used = (model.card.target, model.card.group, model.card.time)
    return [name for name in model.preparation.extra_columns(frame) if name not in used]
