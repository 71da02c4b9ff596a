"""Labels for the rows of a table, streamed from one file to another: the job of `abnet predict`."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import atomic_path
from abnet.data.preparation.columns import numbers
from abnet.data.preparation.table_map import TableMap
from abnet.data.preparation.unseen import Unseen, merge, refuse_unseen
from abnet.data.tables import batches
from abnet.data.tables.error import TableError, listed
from abnet.data.tables.frames import Table, as_table
from abnet.files import load
from abnet.files.kinds import kind_of
from abnet.predictors.predictor import Predictor

__all__ = ["PredictOutcome", "predict_to_file", "predict_to_stream", "scores", "unused_columns"]


def scores(model: Predictor, frame: Table) -> tuple[NDArray[np.float64], list[Unseen]]:
    """``F(x)`` of every row, and the categories that training never saw."""
    preparation = model.info.preparation
    if isinstance(preparation, TableMap):
        prepared, reports = preparation.transform_reporting(frame)
        return model.score_prepared(prepared), reports
    return model.decision_function(_numeric(model, frame)), []


def _numeric(model: Predictor, frame: Table) -> NDArray[np.float64]:
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
    matrix = np.column_stack([numbers(frame, name) for name in names])
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        row, column = missing[0]
        where = f"column {names[column]!r}, {frame.row(int(row))}"
        raise TableError(f"{where}: a missing value, which this model has no rule for; fill it in.")
    return matrix


def unused_columns(model: Predictor, frame: Table) -> list[str]:
    """Columns that the model does not use, but for its target."""
    preparation: Any = model.info.preparation
    extra = preparation.extra_columns(frame) if isinstance(preparation, TableMap) else []
    return [name for name in extra if name != model.info.details.get("target")]


ROWS = 10_000
"""Rows predicted at a time."""


@dataclass
class PredictOutcome:
    """How many rows were predicted, and as what."""

    classes: tuple[Any, ...]
    output: str | None = None
    replaced: bool = False
    n_rows: int = 0
    tally: Counter[Any] = field(default_factory=Counter)
    unseen: list[Unseen] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each class, and those without an answer if there are any."""
        unanswered = {"(no answer)": self.tally[None]} if self.tally[None] else {}
        return {str(label): self.tally[label] for label in self.classes} | unanswered

    @property
    def notices(self) -> list[str]:
        """What the user should know about the table."""
        passed = [f"the model does not use the columns {listed(self.ignored)}"] if self.ignored else []
        return [*map(str, self.unseen), *passed]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        unseen = {report.column: report.rows for report in self.unseen if not report.order}
        unreadable = {report.column: report.n_rows for report in self.unseen if report.order}
        return {
            "output": self.output, "replaced": self.replaced, "n_rows": self.n_rows, "counts": self.counts,
            "unseen": unseen, "unreadable_dates": unreadable, "ignored_columns": self.ignored,
        }  # fmt: skip


def predict_to_file(
    model: Path,
    table: Path,
    output: Path,
    *,
    proba: bool = False,
    abstain: bool = False,
    refuse_unseen: bool = True,
    progress: Callable[[float], None] | None = None,
) -> PredictOutcome:
    """Predict into a CSV file, which has its name only when it is complete."""
    predictor = _loaded(model, proba)
    answer = _answers(predictor, abstain)
    replaced = output.exists()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        outcome = _write(predictor, table, _csv(predictor, stream, proba), answer, refuse_unseen, progress)
    outcome.output, outcome.replaced = str(output), replaced
    return outcome


def predict_to_stream(
    model: Path,
    table: Path,
    *,
    proba: bool = False,
    abstain: bool = False,
    refuse_unseen: bool = True,
    json_lines: bool = False,
) -> PredictOutcome:
    """Predict to stdout, as CSV or as one JSON object per row; a failure may come after some rows."""
    predictor = _loaded(model, proba)
    writer = _json(predictor, sys.stdout, proba) if json_lines else _csv(predictor, sys.stdout, proba)
    return _write(predictor, table, writer, _answers(predictor, abstain), refuse_unseen, None)


def _loaded(model: Path, proba: bool) -> Predictor:
    """The predictor in a file; a ValueError before anything is written if it has no probabilities to give."""
    predictor = load(model)
    if proba and not predictor.shares:
        raise ValueError(
            f"{model} holds a {kind_of(predictor)}, whose scores are not shares of a vote, so it gives no "
            "probabilities: leave out --proba."
        )
    return predictor


Writer = Callable[[list[Any], NDArray[np.float64]], None]


Answers = Callable[[NDArray[np.float64]], list[Any]]


def _answers(model: Predictor, abstain: bool) -> Answers:
    """From scores to labels; with `abstain`, None for rows that the model is not sure enough of."""
    from_scores = model.info.labels.from_scores
    if not abstain:
        return lambda F: list(from_scores(F).tolist())
    from abnet.decisions.answers import labels_or_none, threshold_of

    threshold = threshold_of(model.info.details)
    return lambda F: list(labels_or_none(from_scores(F), F, threshold))


def _write(
    model: Predictor,
    table: Path,
    writer: Writer,
    answer: Answers,
    refuse: bool,
    progress: Callable[[float], None] | None,
) -> PredictOutcome:
    outcome = PredictOutcome(tuple(model.classes_.tolist()))
    for F, reports in _scored(model, table, outcome, refuse, progress):
        labels = answer(F)
        writer(labels, F)
        outcome.n_rows += len(labels)
        outcome.tally.update(labels)
        outcome.unseen = merge([*outcome.unseen, *reports])
    return outcome


def _scored(
    model: Predictor, table: Path, outcome: PredictOutcome, refuse: bool, progress: Callable[[float], None] | None
) -> Iterator[tuple[NDArray[np.float64], list[Unseen]]]:
    before = 0
    for batch in batches(table, rows=ROWS, progress=progress):
        frame = as_table(batch, before=before)
        if before == 0:
            outcome.ignored = unused_columns(model, frame)
        before += batch.height
        F, reports = scores(model, frame)
        if refuse:
            refuse_unseen(frame, reports)
        yield F, reports


def _csv(model: Predictor, stream: TextIO, proba: bool) -> Writer:
    """A writer of CSV rows; the header comes with the first of them, so that a table that is refused prints nothing."""
    writer = csv.writer(stream, lineterminator="\n")
    names = [f"probability_{name}" for name in model.info.labels.names] if proba else []
    header = [["prediction", *names]]

    def write(labels: list[Any], F: NDArray[np.float64]) -> None:
        writer.writerows(header)
        header.clear()
        shares = model.shares_from_scores(F).tolist() if proba else [[]] * len(labels)
        writer.writerows([label, *row] for label, row in zip(labels, shares, strict=True))

    return write


def _json(model: Predictor, stream: TextIO, proba: bool) -> Writer:
    """A writer of JSON lines."""
    names = model.info.labels.names

    def write(labels: list[Any], F: NDArray[np.float64]) -> None:
        shares = model.shares_from_scores(F).tolist() if proba else [[]] * len(labels)
        for label, row in zip(labels, shares, strict=True):
            extra = {"probability": dict(zip(names, row, strict=True))} if proba else {}
            stream.write(json.dumps({"prediction": label, **extra}) + "\n")

    return write
