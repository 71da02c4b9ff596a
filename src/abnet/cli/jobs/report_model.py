"""A page about a model file, with the rows of a table if there is one: the job of `abnet report`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import atomic_path
from abnet.cli.console import UsageError
from abnet.cli.jobs.predict_table import ROWS, prepared
from abnet.decisions.training_rows import filter_of, label_marks
from abnet.model.file import load
from abnet.model.model import Model
from abnet.preparation.unseen import Unseen, merge
from abnet.report.measures import LOCATED, GivenRows, measure_scores
from abnet.report.page import report_page
from abnet.report.promise import Peer, peers_of
from abnet.report.summary import About
from abnet.tables import TableError, batches
from abnet.tables.cells import is_blank, listed, to_number, to_text
from abnet.tables.frames import Table, as_table

__all__ = ["ReportOutcome", "report_file"]


@dataclass(frozen=True)
class ReportOutcome:
    """What was written, and what should be said about the rows."""

    output: Path
    size: int
    replaced: bool
    n_rows: int
    error: float | None
    notices: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "output": str(self.output), "bytes": self.size, "replaced": self.replaced, "n_rows": self.n_rows,
            "error": self.error,
        }  # fmt: skip


def report_file(
    model: Path,
    table: Path | None,
    output: Path,
    *,
    truth: str | None = None,
    compared: Path | None = None,
    title: str | None = None,
    form: bool = True,
) -> ReportOutcome:
    """Write the page.

    Parameters
    ----------
    model, output : path
    table : path, optional
        Labelled rows.
    truth : str, optional
        Column with the labels; by default the one that the model was fitted to.
    compared : path, optional
        What ``abnet compare --json`` printed.
    title : str, optional
    form : bool
    """
    loaded, peers = load(model), () if compared is None else _peers(compared)
    given, notices = (None, []) if table is None else _gathered(loaded, table, _target(model, loaded, truth))
    page = report_page(loaded, given, about=About(title=title), rivals=peers, form=form)
    replaced = output.exists()
    with atomic_path(output) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    error, n_rows = (None, 0) if given is None else (given.measures.error, given.measures.n_rows)
    if given is not None and given.measures.were_fitted:
        notices.append(
            f"{given.measures.n_fitted:,} of {n_rows:,} rows have the values and the label of rows that the model "
            "learned from; the page says so"
        )
    return ReportOutcome(output, output.stat().st_size, replaced, n_rows, error, tuple(notices))


def _peers(path: Path) -> tuple[Peer, ...]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not what `abnet compare --json` prints: it is no JSON ({error}).") from error
    found = peers_of(record.get("contenders") if isinstance(record, dict) else None)
    if not found:
        raise ValueError(f"{path} is not what `abnet compare --json` prints: it lists no contenders.")
    return found


def _target(model: Path, loaded: Model, truth: str | None) -> str:
    target = truth or loaded.card.target
    if not isinstance(target, str):
        raise UsageError(f"{model} does not say which column it predicts: name it with --truth COLUMN.")
    return target


def _gathered(loaded: Model, table: Path, target: str) -> tuple[GivenRows, list[str]]:
    """Scores of all rows with a label, and some of the rows: a random choice, however long the table is."""
    known = {_label(name): code for code, name in enumerate(loaded.labels.names)}
    rng, before, unlabelled, unseen = np.random.default_rng(0), 0, 0, list[Unseen]()
    scores, codes, seen = [], [], filter_of(loaded)
    some: tuple[NDArray[Any], ...] = ()
    for batch in batches(table, rows=ROWS):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        labels = _codes(frame, target, known)
        rows, reports = prepared(loaded, frame)
        unseen = merge([*unseen, *reports])
        here = labels > _UNLABELLED
        unlabelled += int((~here).sum())
        rows, labels = np.asarray(rows)[here], labels[here]
        scores.append(loaded.predictor.scores(rows))
        codes.append(labels)
        if seen is not None:
            seen.add(rows, label_marks(labels, loaded.n_classes))
        some = _fewer(some, rng.random(len(labels)), rows, labels)
    if not codes or not sum(map(len, codes)):
        raise TableError(f"no row of {table} has a label in the column {target!r}.")
    measures = measure_scores(loaded, np.concatenate(scores), np.concatenate(codes), seen=seen, n_unlabelled=unlabelled)
    return GivenRows(measures, some[1], some[2]), [*map(str, unseen)]


_UNLABELLED = -2
"""Code of a row without a label; -1 is a label that the model does not know."""


def _codes(frame: Table, target: str, known: dict[str, int]) -> NDArray[np.intp]:
    if target not in frame.columns:
        raise UsageError(f"no column {listed([target])} in the table; its columns are {listed(list(frame.columns))}.")
    found = frame.cells(target).distinct()
    codes = [_UNLABELLED if is_blank(value) else known.get(_label(to_text(value)), -1) for value in found.values]
    return np.array(codes, np.intp)[found.codes]


def _label(text: str) -> str:
    """The text of a label: ``1`` and ``1.0`` are one."""
    number = to_number(text)
    return text if number is None or not np.isfinite(number) else to_text(number)


def _fewer(kept: tuple[NDArray[Any], ...], *new: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Rows with the smallest of their random numbers, which come first: all have the same chance to stay."""
    both = tuple(np.concatenate(pair) for pair in zip(kept, new, strict=True)) if kept else new
    order = np.argsort(both[0], kind="stable")[:LOCATED]
    return tuple(part[order] for part in both)
