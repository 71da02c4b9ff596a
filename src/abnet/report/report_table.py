"""`report_table`: a page about a model file, with estimates from a labelled table if there is one."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import load_certificate
from abnet.certificates.training_rows import filter_of
from abnet.model.labelled_table import target_of
from abnet.model.model import Model
from abnet.model.table_rows import ModelOrPath, as_model, frames_of, prepared
from abnet.report.certificate_section import Peer, peers_of
from abnet.report.measures import LOCATED, GivenRows, measure_scores
from abnet.report.page import report_page
from abnet.report.stated_facts import about_from
from abnet.tables import TableError
from abnet.tables.model_labels import true_labels
from abnet.tables.named_columns import check_named, label_text
from abnet.tables.table import Table, as_table
from abnet.tables.unseen import Unseen, merge
from abnet.utils.atomic import atomic_path
from abnet.utils.coded_rows import dense
from abnet.utils.label_values import label_values
from abnet.utils.progress import ProgressCallback, part_of_progress, report_progress

__all__ = ["ReportedTable", "report_table"]

READ = 0.2
"""Share of the work that is done when the table is read; explaining the model and drawing take the rest."""
UNKNOWN_LABEL = -1
"""Code of a label that the model does not know."""
NO_LABEL = -2
"""Code of a row without a label."""


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
        Whether an older file was replaced.
    n_rows : int
        Number of labelled rows that the estimates rest on; 0 without a table.
    error : float or None
        Error rate on these rows.
    notes : tuple of str
    """

    output: str
    size: int
    replaced: bool
    n_rows: int
    error: float | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "output": self.output,
            "bytes": self.size,
            "replaced": self.replaced,
            "n_rows": self.n_rows,
            "error": self.error,
        }


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
    card: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    certificates: Sequence[str | os.PathLike[str]] = (),
    form: bool = True,
    progress: Callable[[float], None] | None = None,
) -> ReportedTable:
    """Write one HTML page about a model; `abnet.write_report` does the same for rows in memory.

    Parameters
    ----------
    model : path, Model or fitted classifier
    output : path
        The page; an existing file is replaced in one step.
    table : path, frame, or iterable of frames, optional
        Labelled rows that the model was not trained on. They are streamed, so the table may be larger than memory.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    compared : path, optional
        Other models to show: a file with the output of ``abnet compare --json``.
    title, owner, purpose : str, optional
        Heading of the page; who is accountable for the model; what it is for.
    card : path or mapping, optional
        More facts that only people know, in the form of ``abnet report MODEL --card-template``.
    certificates : sequence of paths
        Files of further certificates of this model, for example from ``abnet certify MODEL TABLE --by COLUMN --save``.
    form : bool
        Whether the page has a form to try rows. It then holds the model and the training rows that the model keeps.
    progress : callable, optional
        Called with the share that is done, between 0 and 1.
    """
    loaded = as_model(model)
    about = about_from(card, title=title, owner=owner, purpose=purpose)
    others = [load_certificate(path) for path in certificates]
    peers: tuple[Peer, ...] = ()
    if compared is not None:
        peers = _peers(Path(compared))
    given = None
    notes: list[str] = []
    if table is not None:
        given, notes = _given_rows(loaded, table, target_of(loaded, truth), part_of_progress(progress, 0.0, READ))
    page = report_page(
        loaded,
        given,
        about=about,
        certificates=others,
        rivals=peers,
        form=form,
        progress=part_of_progress(progress, READ, 1.0 - READ),
    )
    target = Path(output)
    replaced = target.exists()
    with atomic_path(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    error = None
    n_rows = 0
    if given is not None:
        error = given.measures.error
        n_rows = given.measures.n_rows
        if given.measures.were_fitted:
            notes.append(
                f"{given.measures.n_fitted:,} of {n_rows:,} rows have the same values and label as rows that the model "
                "was fitted on; the page says so"
            )
    return ReportedTable(
        output=os.fspath(output),
        size=target.stat().st_size,
        replaced=replaced,
        n_rows=n_rows,
        error=error,
        notes=tuple(notes),
    )


def _peers(path: Path) -> tuple[Peer, ...]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not the output of `abnet compare --json`: it is not JSON ({error}).") from error
    contenders = None
    if isinstance(record, dict):
        contenders = record.get("contenders")
    peers = peers_of(contenders)
    if not peers:
        raise ValueError(f"{path} is not the output of `abnet compare --json`: it lists no contenders.")
    return peers


def _given_rows(
    loaded: Model, table: Any, target: str, progress: ProgressCallback | None
) -> tuple[GivenRows, list[str]]:
    """Measures of all rows with a label, a random sample of the rows, and notes; the table is read in batches."""
    report_progress("Reading the table")
    code_of: dict[str | None, int] = {label_text(name): code for code, name in enumerate(loaded.labels.names)}
    code_of[None] = NO_LABEL
    fitted_rows = filter_of(loaded)
    rng = np.random.default_rng(0)
    n_read = 0
    n_unlabelled = 0
    scores = []
    codes = []
    unseen: list[Unseen] = []
    sample = _Sample.empty()
    for batch in frames_of(table, progress=progress):
        frame = as_table(batch, before=n_read)
        n_read += frame.n_rows
        batch_codes = _codes(frame, target, code_of, loaded.card.cuts)
        inputs, reports, _ = prepared(loaded, frame)
        unseen = merge([*unseen, *reports])
        labelled = batch_codes != NO_LABEL
        n_unlabelled += int((~labelled).sum())
        rows = dense(inputs)[labelled]
        batch_codes = batch_codes[labelled]
        scores.append(loaded.predictor.scores(rows))
        codes.append(batch_codes)
        if fitted_rows is not None:
            fitted_rows.add(rows, label_values(batch_codes, loaded.n_classes))
        sample = sample.extended(rng.random(len(rows)), rows, batch_codes)
    if not sum(map(len, codes)):
        raise TableError(f"no row of the table has a label in the column {target!r}.")
    measures = measure_scores(
        loaded, np.concatenate(scores), np.concatenate(codes), seen=fitted_rows, n_unlabelled=n_unlabelled
    )
    given = GivenRows(measures=measures, prepared=sample.rows, codes=sample.codes)
    return given, list(map(str, unseen))


def _codes(frame: Table, target: str, code_of: dict[str | None, int], cuts: tuple[float, ...]) -> NDArray[np.intp]:
    """Positions of the labels among the classes, `UNKNOWN_LABEL` or `NO_LABEL`."""
    check_named("truth", [target], frame.columns)
    texts = true_labels(frame, target, cuts)
    return np.array([code_of.get(text, UNKNOWN_LABEL) for text in texts], np.intp)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows with the smallest random numbers so far, in the order of the table.

    All rows have the same chance to stay, however long the table is. A short table stays as it is, so that
    `explain_table` has the same rows.
    """

    random_numbers: NDArray[np.float64]
    rows: NDArray[Any]
    codes: NDArray[np.intp]

    @staticmethod
    def empty() -> "_Sample":
        return _Sample(np.empty(0), np.empty((0, 0)), np.empty(0, np.intp))

    def extended(self, random_numbers: NDArray[np.float64], rows: NDArray[Any], codes: NDArray[np.intp]) -> "_Sample":
        """The sample of the rows so far and the new ones."""
        if len(self.random_numbers):
            random_numbers = np.concatenate([self.random_numbers, random_numbers])
            rows = np.concatenate([self.rows, rows])
            codes = np.concatenate([self.codes, codes])
        kept = np.sort(np.argsort(random_numbers, kind="stable")[:LOCATED])
        return _Sample(random_numbers[kept], rows[kept], codes[kept])
