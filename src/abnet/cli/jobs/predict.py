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

from abnet.cli.jobs import features
from abnet.compact import Predictor
from abnet.data.preparation.unseen import Unseen, merge
from abnet.data.tables import read_chunks
from abnet.data.tables.error import listed
from abnet.files import atomic_path, load

__all__ = ["PredictOutcome", "predict_to_file", "predict_to_stream"]

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
        """Rows of each class."""
        return {str(label): self.tally[label] for label in self.classes}

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
    refuse_unseen: bool = True,
    progress: Callable[[float], None] | None = None,
) -> PredictOutcome:
    """Predict into a CSV file, which has its name only when it is complete."""
    predictor = load(model)
    replaced = output.exists()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        outcome = _write(predictor, table, _csv(predictor, stream, proba), refuse_unseen, progress)
    outcome.output, outcome.replaced = str(output), replaced
    return outcome


def predict_to_stream(
    model: Path, table: Path, *, proba: bool = False, refuse_unseen: bool = True, json_lines: bool = False
) -> PredictOutcome:
    """Predict to stdout, as CSV or as one JSON object per row; a failure may come after some rows."""
    predictor = load(model)
    writer = _json(predictor, sys.stdout, proba) if json_lines else _csv(predictor, sys.stdout, proba)
    return _write(predictor, table, writer, refuse_unseen, None)


Writer = Callable[[list[Any], NDArray[np.float64]], None]


def _write(
    model: Predictor, table: Path, writer: Writer, refuse: bool, progress: Callable[[float], None] | None
) -> PredictOutcome:
    outcome = PredictOutcome(tuple(model.classes_.tolist()))
    for F, reports in _scored(model, table, outcome, refuse, progress):
        labels = model.classes_[(F >= 0).astype(int)].tolist()
        writer(labels, F)
        outcome.n_rows += len(labels)
        outcome.tally.update(labels)
        outcome.unseen = merge([*outcome.unseen, *reports])
    return outcome


def _scored(
    model: Predictor, table: Path, outcome: PredictOutcome, refuse: bool, progress: Callable[[float], None] | None
) -> Iterator[tuple[NDArray[np.float64], list[Unseen]]]:
    for number, frame in enumerate(read_chunks(table, rows=ROWS, progress=progress)):
        if number == 0:
            outcome.ignored = features.strangers(model, frame)
        F, reports = features.scores(model, frame)
        if refuse:
            features.refuse_unseen(frame, reports)
        yield F, reports


def _csv(model: Predictor, stream: TextIO, proba: bool) -> Writer:
    """A writer of CSV rows; the header comes with the first of them, so that a table that is refused prints nothing."""
    writer = csv.writer(stream, lineterminator="\n")
    names = [f"probability_{label}" for label in model.classes_.tolist()] if proba else []
    header = [["prediction", *names]]

    def write(labels: list[Any], F: NDArray[np.float64]) -> None:
        writer.writerows(header)
        header.clear()
        shares = _shares(F) if proba else [[]] * len(labels)
        writer.writerows([label, *row] for label, row in zip(labels, shares, strict=True))

    return write


def _json(model: Predictor, stream: TextIO, proba: bool) -> Writer:
    """A writer of JSON lines."""
    names = [str(label) for label in model.classes_.tolist()]

    def write(labels: list[Any], F: NDArray[np.float64]) -> None:
        for label, shares in zip(labels, _shares(F), strict=True):
            extra = {"probability": dict(zip(names, shares, strict=True))} if proba else {}
            stream.write(json.dumps({"prediction": label, **extra}) + "\n")

    return write


def _shares(F: NDArray[np.float64]) -> list[list[float]]:
    """Shares of the vote of every row, as `Predictor.predict_proba` gives them."""
    p = 0.5 + 0.5 * F
    return np.stack([1 - p, p], axis=1).tolist()
