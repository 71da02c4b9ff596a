"""`report_table`: a page about a model file, with estimates from a labelled table if there is one."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.labelled_table import target_of
from abnet.certificates.training_rows import filter_of, label_marks
from abnet.model.model import Model
from abnet.model.table_rows import ModelOrPath, as_model, frames_of, prepared
from abnet.report.measures import LOCATED, GivenRows, measure_scores
from abnet.report.page import report_page
from abnet.report.promise import Peer, peers_of
from abnet.report.summary import About
from abnet.tables import TableError
from abnet.tables.frames import Table, as_table
from abnet.tables.named_columns import check_named, label_text
from abnet.tables.target import true_labels
from abnet.tables.unseen import Unseen, merge
from abnet.utils.atomic import atomic_path
from abnet.utils.coded_rows import dense
from abnet.utils.progress import tell

__all__ = ["ReportedTable", "report_table"]


@dataclass(frozen=True)
class ReportedTable:
    """The page that was written.

    Attributes
    ----------
    output : str
        The file.
    size : int
        Its bytes.
    replaced : bool
        Whether it replaced an older one.
    n_rows : int
        Labelled rows that the estimates rest on; 0 without a table.
    error : float or None
        Error rate on them.
    notes : tuple of str
    """

    output: str
    size: int
    replaced: bool
    n_rows: int
    error: float | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "output": self.output, "bytes": self.size, "replaced": self.replaced, "n_rows": self.n_rows,
            "error": self.error,
        }  # fmt: skip


def report_table(
    model: ModelOrPath,
    output: str | os.PathLike[str],
    table: Any = None,
    *,
    truth: str | None = None,
    compared: str | os.PathLike[str] | None = None,
    title: str | None = None,
    owner: str | None = None,
    purpose: str | None = None,
    date: str | None = None,
    data: str | None = None,
    form: bool = True,
    progress: Callable[[float], None] | None = None,
) -> ReportedTable:
    """Write one HTML page about a model; `abnet.write_report` does the same for rows in memory.

    Parameters
    ----------
    model : path, Model or fitted classifier
    output : path
        The page; a file of that name is replaced in one step.
    table : path, frame, or iterable of frames, optional
        Labelled rows that the model was not trained on. They stream through, however long the table is.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    compared : path, optional
        Other models to show: what ``abnet compare --json`` printed.
    title, owner, purpose, date, data : str, optional
        Heading of the page; who is accountable for the model; what it is for; a date; a description of the data.
    form : bool
        Whether the page has a form to try rows. It then holds the model and the training rows that the model keeps.
    progress : callable, optional
        Takes the share that is done, between 0 and 1.
    """
    loaded, peers = as_model(model), () if compared is None else _peers(Path(compared))
    given, notes = (None, []) if table is None else _gathered(loaded, table, target_of(loaded, truth), progress)
    about = About(title=title, owner=owner, purpose=purpose, date=date, data=data)
    rest = None if progress is None else lambda share: progress(READ + (1.0 - READ) * share)
    page = report_page(loaded, given, about=about, rivals=peers, form=form, progress=rest)
    target = Path(output)
    replaced = target.exists()
    with atomic_path(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    error, n_rows = (None, 0) if given is None else (given.measures.error, given.measures.n_rows)
    if given is not None and given.measures.were_fitted:
        notes.append(
            f"{given.measures.n_fitted:,} of {n_rows:,} rows have the same values and label as rows that the model was "
            "fitted on; the page says so"
        )
    return ReportedTable(os.fspath(output), target.stat().st_size, replaced, n_rows, error, tuple(notes))


def _peers(path: Path) -> tuple[Peer, ...]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not the output of `abnet compare --json`: it is not JSON ({error}).") from error
    found = peers_of(record.get("contenders") if isinstance(record, dict) else None)
    if not found:
        raise ValueError(f"{path} is not the output of `abnet compare --json`: it lists no contenders.")
    return found


READ = 0.2
"""Share of the work that is done when the table is read; explaining the model and drawing take the rest."""


def _gathered(
    loaded: Model, table: Any, target: str, progress: Callable[[float], None] | None
) -> tuple[GivenRows, list[str]]:
    """Scores of all rows with a label, and some of the rows: a random choice, however long the table is."""
    known: dict[str | None, int] = {label_text(name): code for code, name in enumerate(loaded.labels.names)}
    rng, before, unlabelled, unseen = np.random.default_rng(0), 0, 0, list[Unseen]()
    scores, codes, seen = [], [], filter_of(loaded)
    tell("Reading the table")
    some: tuple[NDArray[Any], ...] = ()
    for batch in frames_of(table, progress=None if progress is None else lambda share: progress(READ * share)):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        labels = _codes(frame, target, known, loaded.card.cuts)
        rows, reports, _ = prepared(loaded, frame)
        unseen = merge([*unseen, *reports])
        here = labels > _UNLABELLED
        unlabelled += int((~here).sum())
        rows, labels = dense(rows)[here], labels[here]
        scores.append(loaded.predictor.scores(rows))
        codes.append(labels)
        if seen is not None:
            seen.add(rows, label_marks(labels, loaded.n_classes))
        some = _fewer(some, rng.random(len(labels)), rows, labels)
    if not codes or not sum(map(len, codes)):
        raise TableError(f"no row of the table has a label in the column {target!r}.")
    measures = measure_scores(loaded, np.concatenate(scores), np.concatenate(codes), seen=seen, n_unlabelled=unlabelled)
    return GivenRows(measures, some[1], some[2]), [*map(str, unseen)]


_UNLABELLED = -2
"""Code of a row without a label; -1 is a label that the model does not know."""


def _codes(frame: Table, target: str, known: dict[str | None, int], cuts: tuple[float, ...]) -> NDArray[np.intp]:
    check_named("truth", [target], frame.columns)
    texts = true_labels(frame, target, cuts)
    return np.array([_UNLABELLED if text is None else known.get(text, -1) for text in texts], np.intp)


def _fewer(kept: tuple[NDArray[Any], ...], *new: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Rows with the smallest of their random numbers, which come first, in the order of the table.

    All rows have the same chance to stay. A short table stays as it is, so that `explain_table` has the same rows.
    """
    both = tuple(np.concatenate(pair) for pair in zip(kept, new, strict=True)) if kept else new
    order = np.sort(np.argsort(both[0], kind="stable")[:LOCATED])
    return tuple(part[order] for part in both)
