"""Labels for the rows of a table, streamed from one file to another: the job of `abnet predict`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import atomic_path
from abnet.certificates.decision import decided, stored_decision
from abnet.cli.console import UsageError
from abnet.labels import winners
from abnet.model.file import load
from abnet.model.model import Model
from abnet.predictors.kinds import kind_of
from abnet.preparation.columns import numbers
from abnet.preparation.unseen import Unseen, merge, refuse_unseen
from abnet.tables import batches
from abnet.tables.cells import TableError, listed
from abnet.tables.frames import Table, as_table
from abnet.threads import cores

if TYPE_CHECKING:
    import polars

__all__ = [
    "PredictOutcome",
    "Wanted",
    "numeric_rows",
    "predict_to_file",
    "predict_to_stream",
    "prepared",
    "unused_columns",
]


def prepared(model: Model, frame: Table, *, written: bool = True) -> tuple[Any, list[Unseen]]:
    """Inputs of the network for every row, and the values that training never saw; codes need not be `written` out."""
    preparation: Any = model.preparation
    if hasattr(preparation, "transform_reporting"):  # a table's own
        as_rows = not written and hasattr(preparation, "rows_reporting")
        read = preparation.rows_reporting if as_rows else preparation.transform_reporting
        found: tuple[Any, list[Unseen]] = read(frame)
        return found
    rows = numeric_rows(model, frame)
    return (rows if preparation is None else preparation.transform(rows)), []


def numeric_rows(model: Model, frame: Table) -> NDArray[np.float64]:
    """Columns as numbers, for a model that was learned from an array."""
    names = model.feature_names_in_ or tuple(frame.columns)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise TableError(f"the table lacks {listed(absent)}, which the model was trained on.")
    preparation = model.preparation
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


def unused_columns(model: Model, frame: Table) -> list[str]:
    """Columns that the model does not use, but for its target."""
    preparation: Any = model.preparation
    extra = preparation.extra_columns(frame) if hasattr(preparation, "extra_columns") else []
    return [name for name in extra if name not in (model.card.target, model.card.group)]


def _empty_columns(model: Model, frame: Table, outcome: "PredictOutcome") -> list[str]:
    """Columns that held no value so far, and hold none in these rows."""
    preparation: Any = model.preparation
    if (outcome.n_rows and not outcome.empty) or not hasattr(preparation, "empty_columns"):
        return []
    found: list[str] = preparation.empty_columns(frame, outcome.empty if outcome.n_rows else None)
    return found


ROWS = 50_000
"""Rows predicted at a time."""
FEW = 10
"""Rows of which all may lack a value by chance."""


@dataclass
class PredictOutcome:
    """How many rows were predicted, and as what."""

    classes: tuple[Any, ...]
    output: str | None = None
    replaced: bool = False
    n_rows: int = 0
    tally: NDArray[np.intp] | int = 0
    unseen: list[Unseen] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    silent: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each class, and those without an answer if there are any."""
        counts = np.broadcast_to(self.tally, len(self.classes)).tolist()
        unanswered = self.n_rows - sum(counts)
        named = dict(zip(map(str, self.classes), counts, strict=True))
        return named | ({"(no answer)": unanswered} if unanswered else {})

    @property
    def notices(self) -> list[str]:
        """What the user should know about the table."""
        passed = [f"the model does not use the columns {listed(self.ignored)}"] if self.ignored else []
        if self.empty and self.n_rows >= FEW:
            passed.append(f"no row has a value for {listed(self.empty)}, which the model was trained on")
        return [*map(str, self.unseen), *passed, *([self.silent] if self.silent else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        unseen = {report.column: report.rows for report in self.unseen if not report.read_as}
        unreadable = {report.column: report.n_rows for report in self.unseen if report.read_as}
        return {
            "output": self.output, "replaced": self.replaced, "n_rows": self.n_rows, "counts": self.counts,
            "unseen": unseen, "unreadable_dates": unreadable, "ignored_columns": self.ignored,
        }  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What is to be written of every row.

    Attributes
    ----------
    proba : bool
        The probability of each class.
    keep : sequence of str
        Columns of the table to pass through, or "all".
    refuse_unseen : bool
        Whether a value that training never saw is an error.
    abstain : bool
        Whether rows that the model is not sure enough of stay without an answer.
    decide : bool
        Whether the certified threshold of a target or of costs decides.
    """

    proba: bool = False
    keep: Sequence[str] = ()
    refuse_unseen: bool = False
    abstain: bool = False
    decide: bool = False


def predict_to_file(
    model: Path, table: Path, output: Path, wanted: Wanted, *, progress: Callable[[float], None] | None = None
) -> PredictOutcome:
    """Predict into a CSV file, which has its name only when it is complete."""
    loaded = _loaded(model, wanted.proba)
    replaced = output.exists()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        outcome = _write(loaded, table, wanted, _csv(stream), progress)
    outcome.output, outcome.replaced = str(output), replaced
    return outcome


def predict_to_stream(model: Path, table: Path, wanted: Wanted, *, json_lines: bool = False) -> PredictOutcome:
    """Predict to stdout, as CSV or as one JSON object per row; a failure may come after some rows."""
    loaded = _loaded(model, wanted.proba)
    return _write(loaded, table, wanted, _json(sys.stdout) if json_lines else _csv(sys.stdout), None)


def _loaded(model: Path, proba: bool) -> Model:
    """The model in a file; a ValueError before anything is written if it has no probabilities to give."""
    loaded = load(model)
    if proba and not loaded.predictor.shares:
        raise ValueError(
            f"{model} holds a model of kind {kind_of(loaded.predictor)!r}, whose scores are not shares of a vote, so "
            "it gives no probabilities: leave out --proba."
        )
    return loaded


def _write(
    model: Model,
    table: Path,
    wanted: Wanted,
    writer: "Writer",
    progress: Callable[[float], None] | None,
) -> PredictOutcome:
    outcome = PredictOutcome(tuple(model.classes_.tolist()), silent=_silence(model) if wanted.abstain else "")
    for batch in batches(table, rows=ROWS, progress=progress):
        frame = as_table(batch, before=outcome.n_rows)
        if outcome.n_rows == 0:
            outcome.ignored = unused_columns(model, frame)
        outcome.empty = _empty_columns(model, frame, outcome)
        rows, reports = prepared(model, frame, written=False)
        if wanted.refuse_unseen:
            refuse_unseen(frame, reports)
        probabilities, codes = _answers(model, rows, wanted)
        writer(_kept(batch, wanted.keep), model, codes, probabilities)
        outcome.n_rows += len(codes)
        outcome.tally += np.bincount(codes[codes >= 0], minlength=len(outcome.classes))
        outcome.unseen = merge([*outcome.unseen, *reports])
    return outcome


def _silence(model: Model) -> str:
    """Why a model that may abstain answers no row at all; nothing where it does answer."""
    if stored_decision(model.card.decisions, "abstention") is not None:
        return ""
    return (
        "no row is answered: when the model was fitted, the target error among answered rows could not be certified "
        "(`abnet inspect` says why); without --abstain every row is answered"
    )


def _answers(model: Model, rows: Any, wanted: Wanted) -> tuple[NDArray[np.float64] | None, NDArray[np.intp]]:
    """Probabilities, if wanted, and codes of the labels, -1 for no answer; often single precision does."""
    if not (wanted.proba or wanted.abstain or wanted.decide):
        return None, model.predictor.votes(rows, threads=cores())
    scores = model.predictor.scores(rows, threads=cores())
    codes = winners(scores)
    if wanted.abstain:
        codes = decided(model.card.decisions, "abstention", scores)
        codes = np.where(codes < len(model.classes_), codes, -1)
    if wanted.decide:
        codes = decided(model.card.decisions, "decision", scores)
    return (model.probabilities_from_scores(scores) if wanted.proba else None), codes


Writer = Callable[["polars.DataFrame", Model, NDArray[np.intp], "NDArray[np.float64] | None"], None]


def _csv(stream: TextIO) -> Writer:
    """A writer of CSV rows; the header comes with the first of them, so that a table that is refused prints nothing."""
    import polars as pl

    header = [True]

    def write(
        kept: "polars.DataFrame", model: Model, codes: NDArray[np.intp], shares: NDArray[np.float64] | None
    ) -> None:
        names = model.labels.names
        columns: dict[str, Any] = {"prediction": _labels(pl.Series(names), codes)}
        if shares is not None:
            columns |= {f"probability_{name}": shares[:, place] for place, name in enumerate(names)}
        frame = _beside(kept, pl.DataFrame(columns))
        # Alone in its row, a missing answer would be an empty line, which readers skip.
        empty = '""' if frame.width == 1 else ""
        stream.write(frame.write_csv(include_header=header.pop() if header else False, null_value=empty))

    return write


def _json(stream: TextIO) -> Writer:
    """A writer of JSON lines, with labels of their own type."""
    import polars as pl

    def write(
        kept: "polars.DataFrame", model: Model, codes: NDArray[np.intp], shares: NDArray[np.float64] | None
    ) -> None:
        columns: dict[str, Any] = {"prediction": _labels(pl.Series(model.classes_.tolist()), codes)}
        if shares is not None:
            named = {name: shares[:, place] for place, name in enumerate(model.labels.names)}
            columns["probability"] = pl.DataFrame(named).to_struct()
        stream.write(_beside(kept, pl.DataFrame(columns)).write_ndjson())

    return write


def _labels(classes: Any, codes: NDArray[np.intp]) -> Any:
    """The label of every code, missing where the code is -1."""
    import polars as pl

    found = classes.gather(np.maximum(codes, 0))
    return found if (codes >= 0).all() else found.set(pl.Series(codes < 0), None)


def _beside(kept: "polars.DataFrame", answers: "polars.DataFrame") -> "polars.DataFrame":
    twice = [name for name in answers.columns if name in kept.columns]
    if twice:
        raise TableError(
            f"--keep: the column {twice[0]!r} of the table would stand beside one of that name; rename it."
        )
    return kept.hstack(answers) if kept.width else answers


def _kept(batch: "polars.DataFrame", keep: Sequence[str]) -> "polars.DataFrame":
    """Columns to pass through, in the order of the table where all are."""
    if "all" in keep and "all" not in batch.columns:
        keep = batch.columns
    absent = [name for name in keep if name not in batch.columns]
    if absent:
        raise UsageError(f"--keep: no column {listed(absent)} in the table; its columns are {listed(batch.columns)}.")
    frame = batch.select(list(dict.fromkeys(keep)))
    odd = [column.name for column in frame.get_columns() if column.dtype.is_nested()]
    if odd:
        raise TableError(f"--keep: the column {odd[0]!r} holds lists or records, which CSV has no place for.")
    return frame
