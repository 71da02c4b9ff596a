"""`predict_table`: predict the rows of a table, streaming from one file to another."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.set_rule import SetRule
from abnet.certificates.set_text import set_text
from abnet.certificates.statements.missed_class import MissedClass
from abnet.model.model import Model
from abnet.model.predictors.kinds import kind_of
from abnet.model.table_rows import InputWatch, ModelOrPath, as_model, frames_of, prepared, unused_columns
from abnet.tables.named_columns import check_named
from abnet.tables.notes import Note, note_records
from abnet.tables.preparation.input_shift import refuse_shift, shift_notes
from abnet.tables.table import Table, as_table
from abnet.tables.table_errors import TableError, listed
from abnet.tables.unseen import Unseen, merge, refuse_unseen
from abnet.utils.atomic import atomic_path
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.threads import cores
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["PredictedTable", "SkippedRow", "predict_table"]

FEW = 10
"""With fewer rows than this, a column may be empty by chance."""


@dataclass(frozen=True)
class SkippedRow:
    """A row that could not be read, and why; rows count from 1, without the header."""

    row: int
    reason: str


@dataclass(frozen=True)
class PredictedTable:
    """Result of `predict_table`.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    counts : dict of str to int
        Rows of each predicted class; "(no answer)" where the model abstains, "(skipped)" where a row could not be read.
    skipped : tuple of SkippedRow
    unseen : tuple of Unseen
        Values that do not occur in the training rows.
    ignored_columns, empty_columns : tuple of str
        Columns that the model does not use; columns that it uses but that have no value in any row.
    shifted : tuple of Note
        Notes on columns that clearly differ from the training rows.
    notes : tuple of str
        Notes about the table for the user.
    output : str or None
        The file that was written.
    replaced : bool
        Whether it replaced an older one.
    set_sizes : tuple of int (K + 1,) or None
        Rows whose prediction set has no class, one class, and so on; None without sets.
    frame : polars.DataFrame or None
        The predictions, if no output was given.
    """

    n_rows: int
    counts: dict[str, int]
    skipped: tuple[SkippedRow, ...]
    unseen: tuple[Unseen, ...]
    ignored_columns: tuple[str, ...]
    empty_columns: tuple[str, ...]
    shifted: tuple[Note, ...]
    notes: tuple[str, ...]
    output: str | None = None
    replaced: bool = False
    set_sizes: tuple[int, ...] | None = None
    frame: "polars.DataFrame | None" = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the predictions."""
        unseen = {report.column: report.rows for report in self.unseen if not report.read_as}
        unreadable = {report.column: report.n_rows for report in self.unseen if report.read_as}
        record: dict[str, Any] = {}
        if self.set_sizes is not None:
            record["set_sizes"] = list(self.set_sizes)
        return {
            **record,
            "output": self.output,
            "replaced": self.replaced,
            "n_rows": self.n_rows,
            "counts": self.counts,
            "unseen": unseen,
            "unreadable_dates": unreadable,
            "ignored_columns": list(self.ignored_columns),
            "shifted": note_records(self.shifted),
            "skipped": [{"row": skipped.row, "reason": skipped.reason} for skipped in self.skipped],
        }


def predict_table(
    model: ModelOrPath,
    table: Any,
    output: str | os.PathLike[str] | TextIO | None = None,
    *,
    proba: bool = False,
    sets: bool | str | os.PathLike[str] | Certificate = False,
    keep: Sequence[str] = (),
    vote: bool = False,
    unseen: Literal["warn", "error"] = "warn",
    on_error: Literal["stop", "skip"] = "stop",
    allow_shift: bool = True,
    form: Literal["csv", "json"] = "csv",
    progress: Callable[[float], None] | None = None,
) -> PredictedTable:
    """Predict the rows of a table, in their order.

    Columns are found by name; their order does not matter, and further columns are ignored. Tables larger than memory
    are streamed.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas.
    output : path or text stream, optional
        A file appears when it is complete. Without an output, the result contains the predictions.
    proba : bool
        Add the probability of each class.
    sets : bool, path or Certificate
        Add a column ``set`` with the prediction set of each row: with the thresholds of the model's own certificate
        (True), or of another certificate of this model (`abnet.prediction_sets`, `certify_table`). In CSV a set is
        written as ``{ill|well}`` (`abnet.certificates.set_text`), and ``{}`` is an empty one.
    keep : sequence of str
        Columns to pass through, such as an id; "all" keeps every column.
    vote : bool
        Whether to predict the plain vote. By default the model's certified decision is applied, if it has one: it may
        abstain, or use the threshold of a target or of costs.
    unseen : {"warn", "error"}
        What to do with values that do not occur in the training rows: treat them as unknown or missing, or raise an
        error.
    on_error : {"stop", "skip"}
        What to do with a row that cannot be read: raise an error, or leave its prediction empty and list it in
        ``skipped``.
    allow_shift : bool
        Whether to predict a table in which most values of a numeric column are far outside the training range, with a
        note. If not, it is refused. A column in which no cell can be read is always refused.
    form : {"csv", "json"}
        CSV, or one JSON object per row.
    progress : callable, optional
        Called with the fraction of the table that is done.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), labels=["no", "yes"])
    >>> predict_table(model, {"x": [1.5, -2.0]}).frame["prediction"].to_list()
    ['yes', 'no']
    """
    loaded = as_model(model)
    _check_choice("unseen", unseen, "warn", "error")
    _check_choice("on_error", on_error, "stop", "skip")
    _check_choice("form", form, "csv", "json")
    rule = _set_rule(loaded, sets)
    if (proba or rule is not None) and not loaded.predictor.shares:
        raise ValueError(
            f"a model of kind {kind_of(loaded.predictor)!r} gives no probabilities, because its scores are not shares "
            "of a vote; ask for labels only."
        )
    if isinstance(keep, str):
        keep = (keep,)
    decision = loaded.decision
    if vote:
        decision = ARGMAX
    job = _Job(
        loaded,
        proba=proba,
        rule=rule,
        keep=tuple(keep),
        decision=decision,
        refuses_unseen=unseen == "error",
        skips=on_error == "skip",
        allow_shift=allow_shift,
    )
    if output is None:
        import polars as pl

        frames: list[polars.DataFrame] = []
        job.run(table, lambda kept, predicted: frames.append(_columns(loaded, kept, predicted)), progress)
        return job.outcome(frame=pl.concat(frames))
    if not isinstance(output, (str, os.PathLike)):
        job.run(table, _written(loaded, output, form), progress)
        return job.outcome()
    replaced = Path(output).exists()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        job.run(table, _written(loaded, stream, form), progress)
    return job.outcome(output=os.fspath(output), replaced=replaced)


def _check_choice(name: str, value: str, first: str, second: str) -> None:
    if value not in (first, second):
        raise ParameterError("{} must be {!r} or {!r}; got {!r}.", Parameter(name), first, second, value)


def _set_rule(model: Model, sets: bool | str | os.PathLike[str] | Certificate) -> SetRule | None:
    """The thresholds of prediction sets, if they are asked for; a ValueError if there are none for this model."""
    if sets is False:
        return None
    if sets is True:
        certificate = model.certificate
    elif isinstance(sets, Certificate):
        certificate = sets
    else:
        certificate = load_certificate(sets)
    found: tuple[MissedClass, ...] = ()
    if certificate is not None:
        found = certificate.each(MissedClass)
    if certificate is None or not found:
        raise ParameterError(
            "the certificate has no prediction sets: fit the model with {}, or certify it so on labelled rows.",
            Parameter("sets", 0.1),
        )
    if certificate.model != model.digest:
        raise ValueError("the prediction sets are about another model: their thresholds are for its probabilities.")
    return found[0].sets


class Predicted(NamedTuple):
    """Predictions of some rows.

    Attributes
    ----------
    codes : int array (n,)
        Codes of the answers; K for none.
    shares : float array (n, K) or None
        Probabilities of the classes.
    inside : bool array (n, K) or None
        Which classes are in the prediction set; no class of a row that could not be read.
    unread : bool array (n,)
        Rows that could not be read.
    """

    codes: NDArray[np.intp]
    shares: NDArray[np.float64] | None
    inside: NDArray[np.bool_] | None
    unread: NDArray[np.bool_]


Writer = Callable[["polars.DataFrame", Predicted], None]
"""Takes columns to keep, and predictions of the same rows."""


@dataclass
class _Job:
    """One pass over a table, and its state so far."""

    model: Model
    proba: bool
    keep: tuple[str, ...]
    decision: Decision
    refuses_unseen: bool
    skips: bool
    allow_shift: bool
    rule: SetRule | None = None
    n_rows: int = 0
    n_of_size: NDArray[np.intp] = field(init=False)
    tally: NDArray[np.intp] = field(init=False)
    skipped: list[SkippedRow] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    watch: InputWatch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = InputWatch(self.model)
        self.tally = np.zeros(self.model.n_classes + 1, np.intp)
        self.n_of_size = np.zeros(self.model.n_classes + 1, np.intp)

    def run(self, table: Any, write: Writer, progress: Callable[[float], None] | None) -> None:
        """Predict all rows, batch by batch."""
        ragged: dict[int, str] = {}
        collected = None
        if self.skips:
            collected = ragged
        for batch in frames_of(table, progress=progress, ragged=collected):
            frame = as_table(batch, before=self.n_rows)
            if self.n_rows == 0:
                self.ignored = unused_columns(self.model, frame)
            self.empty = self._empty_columns(frame)
            kept = _kept(batch, self.keep)
            codes, shares = self._predicted(batch)
            self._leave_out(ragged, batch.height, codes, shares)
            write(kept, self._with_sets(codes, shares))
            self.n_rows += batch.height
            self.tally += np.bincount(codes, minlength=len(self.tally))
        if progress is not None:
            progress(1.0)

    def _with_sets(self, codes: NDArray[np.intp], shares: NDArray[np.float64] | None) -> Predicted:
        """The predictions, with the sets if they are asked for."""
        unread = np.zeros(len(codes), np.bool_)
        inside = None
        if self.rule is not None and shares is not None:
            unread = np.isnan(shares[:, 0])
            inside = self.rule.contains(shares)
            sizes = inside[~unread].sum(axis=1)
            self.n_of_size += np.bincount(sizes, minlength=len(self.n_of_size))
        if not self.proba:
            shares = None
        return Predicted(codes, shares, inside, unread)

    @property
    def _needs_shares(self) -> bool:
        """Whether probabilities are computed."""
        return self.proba or self.rule is not None

    def _predicted(self, batch: "polars.DataFrame") -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        """Codes of the answers (K for none) and probabilities, if asked for, of the rows of a batch."""
        n_classes = self.model.n_classes
        scored = self._scored(batch, self.n_rows)
        refuse_shift(self.watch.check(self.unseen), allow_shift=self.allow_shift)
        codes = np.full(batch.height, n_classes, np.intp)
        shares = None
        if self._needs_shares:
            shares = np.full((batch.height, n_classes), np.nan)
        for rows, answers, probabilities in scored:
            codes[rows] = answers
            if shares is not None:
                shares[rows] = probabilities
        return codes, shares

    def _leave_out(
        self, ragged: dict[int, str], height: int, codes: NDArray[np.intp], shares: NDArray[np.float64] | None
    ) -> None:
        """Take back the answers to rows of another length, which the reader has listed with their reasons."""
        places = [place for place in ragged if place < self.n_rows + height]
        for place in places:
            codes[place - self.n_rows] = self.model.n_classes
            if shares is not None:
                shares[place - self.n_rows] = np.nan
            self.skipped.append(SkippedRow(place + 1, ragged.pop(place)))

    def _empty_columns(self, frame: Table) -> list[str]:
        """Columns that held no value so far, and hold none in these rows."""
        if self.n_rows == 0:
            return self.model.preparation.empty_columns(frame, None)
        if not self.empty:
            return []
        return self.model.preparation.empty_columns(frame, self.empty)

    def _scored(
        self, batch: "polars.DataFrame", before: int, start: int = 0
    ) -> list[tuple[slice, NDArray[np.intp], NDArray[np.float64] | None]]:
        """Answers to spans of rows; a span with a row that cannot be read is halved until that row is alone."""
        frame = as_table(batch, before=before)
        try:
            read = prepared(self.model, frame)
            if self.refuses_unseen:
                refuse_unseen(frame, read.unseen)
        except TableError as error:
            if not self.skips or _lacks_columns(self.model, batch):
                raise
            if batch.height == 1:
                self.skipped.append(SkippedRow(before + 1, str(error)))
                return []
            half = batch.height // 2
            first = self._scored(batch.slice(0, half), before, start)
            return first + self._scored(batch.slice(half), before + half, start + half)
        self.unseen = merge([*self.unseen, *read.unseen])
        self.watch.add(read)
        codes, shares = self._answers(read.inputs)
        return [(slice(start, start + batch.height), codes, shares)]

    def _answers(self, rows: Any) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        """Codes of the labels, K for no answer, and probabilities if asked for."""
        predictor = self.model.predictor
        if not self._needs_shares and self.decision == ARGMAX:
            # Votes need no exact scores: for most rows single precision is enough.
            return predictor.votes(rows, threads=cores()), None
        scores = predictor.scores(rows, threads=cores())
        codes = self.decision(scores)
        if not self._needs_shares:
            return codes, None
        return codes, self.model.probabilities_from_scores(scores)

    def outcome(self, **more: Any) -> PredictedTable:
        """The record of the finished job."""
        *answered, without_answer = self.tally.tolist()
        counts = dict(zip(self.model.labels.names, answered, strict=True))
        abstentions = without_answer - len(self.skipped)
        if abstentions:
            counts["(no answer)"] = abstentions
        if self.skipped:
            counts["(skipped)"] = len(self.skipped)
        empty_columns: tuple[str, ...] = ()
        if self.n_rows >= FEW:
            empty_columns = tuple(self.empty)
        shifted = tuple(shift_notes(self.watch.check(self.unseen)))
        return PredictedTable(
            n_rows=self.n_rows,
            counts=counts,
            skipped=tuple(self.skipped),
            unseen=tuple(self.unseen),
            ignored_columns=tuple(self.ignored),
            empty_columns=empty_columns,
            shifted=shifted,
            notes=tuple(self._notes(empty_columns, shifted)),
            set_sizes=self._set_sizes(),
            **more,
        )

    def _set_sizes(self) -> tuple[int, ...] | None:
        """Rows by the size of their set; None without sets."""
        if self.rule is None:
            return None
        return tuple(self.n_of_size.tolist())

    def _notes(self, empty: tuple[str, ...], shifted: tuple[Note, ...]) -> list[str]:
        notes = [*map(str, shifted), *map(str, self.unseen)]
        if self.ignored:
            columns = "columns"
            if len(self.ignored) == 1:
                columns = "column"
            notes.append(f"the model does not use the {columns} {listed(self.ignored)}")
        if empty:
            notes.append(f"no row has a value for {listed(empty)}, which the model was trained on")
        if self.rule is not None and self.n_of_size[0]:
            notes.append(f"the prediction set of {number_of(int(self.n_of_size[0]), 'row')} has no class")
        if self.skipped:
            first = self.skipped[0]
            notes.append(
                f"{number_of(len(self.skipped), 'row')} skipped, with an empty prediction; row {first.row}: "
                f"{first.reason}"
            )
        return notes


def _lacks_columns(model: Model, batch: "polars.DataFrame") -> bool:
    """Whether even a table without rows cannot be read, so that no row is to blame."""
    try:
        prepared(model, as_table(batch.clear()))
    except TableError:
        return True
    return False


def _columns(
    model: Model,
    kept: "polars.DataFrame",
    predicted: Predicted,
    *,
    form: str = "frame",
) -> "polars.DataFrame":
    """Predictions beside the columns that are kept; labels have their own type, except in CSV."""
    import polars as pl

    names = model.labels.names
    labels = pl.Series(model.classes_.tolist())
    if form == "csv":
        labels = pl.Series(names)
    predictions = labels.gather(np.minimum(predicted.codes, len(names) - 1))
    without_answer = predicted.codes >= len(names)
    if without_answer.any():
        predictions = predictions.set(pl.Series(without_answer), None)
    columns: dict[str, Any] = {"prediction": predictions}
    if predicted.inside is not None:
        columns["set"] = _set_column(labels, predicted.inside, predicted.unread, as_text=form == "csv")
    shares = predicted.shares
    if shares is not None:
        probabilities = {name: pl.Series(shares[:, place]).fill_nan(None) for place, name in enumerate(names)}
        if form == "json":
            columns["probability"] = pl.DataFrame(probabilities).to_struct()
        else:
            columns |= {f"probability_{name}": values for name, values in probabilities.items()}
    twice = [name for name in columns if name in kept.columns]
    if twice:
        raise TableError(
            f"the table has a column {twice[0]!r} to keep, which is also the name of a column of predictions; "
            "rename it in the table."
        )
    frame = pl.DataFrame(columns)
    if kept.width == 0:
        return frame
    return kept.hstack(frame)


def _set_column(
    labels: "polars.Series", inside: NDArray[np.bool_], unread: NDArray[np.bool_], *, as_text: bool
) -> "polars.Series":
    """The prediction sets as lists of labels, or as texts; missing for a row that could not be read."""
    import polars as pl

    patterns, places = np.unique(inside, axis=0, return_inverse=True)
    members = [labels.filter(pl.Series(pattern)).to_list() for pattern in patterns]
    if as_text:
        texts = pl.Series([set_text(map(str, classes)) for classes in members], dtype=pl.String)
    else:
        texts = pl.Series(members, dtype=pl.List(labels.dtype))
    column = texts.gather(places.ravel())
    if not unread.any():
        return column
    rows = pl.DataFrame({"set": column, "unread": unread})
    return rows.select(pl.when("unread").then(None).otherwise("set").alias("set"))["set"]


def _written(model: Model, stream: TextIO, form: str) -> Writer:
    """Write to a stream; a CSV's header comes with the first rows, so that a table that is refused prints nothing."""
    header = True

    def write(kept: "polars.DataFrame", predicted: Predicted) -> None:
        nonlocal header
        frame = _columns(model, kept, predicted, form=form)
        if form == "json":
            stream.write(frame.write_ndjson())
            return
        empty = ""
        if frame.width == 1:
            # Alone in its row, a missing answer would be an empty line, which readers skip.
            empty = '""'
        stream.write(frame.write_csv(include_header=header, null_value=empty))
        header = False

    return write


def _kept(batch: "polars.DataFrame", keep: Sequence[str]) -> "polars.DataFrame":
    """Columns to pass through, in the order of the table where all are."""
    if "all" in keep and "all" not in batch.columns:
        keep = batch.columns
    check_named("keep", keep, batch.columns)
    frame = batch.select(list(dict.fromkeys(keep)))
    odd = [column.name for column in frame.get_columns() if column.dtype.is_nested()]
    if odd:
        raise TableError(f"the column {odd[0]!r} to keep holds lists or records, which CSV has no place for.")
    return frame
