"""Labelled rows of a table with their answers, from an abnet model or from a column of the table."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import ARGMAX, Decision, confidence
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.grouped_rows import check_single_rows
from abnet.certificates.outside import Judged, judge_answers
from abnet.certificates.row_hashing import hash_sum, row_hashes
from abnet.certificates.training_rows import filter_of, label_values
from abnet.model.model import Model
from abnet.model.table_rows import InputWatch, frames_of, prepared
from abnet.tables import TableError
from abnet.tables.model_labels import true_labels
from abnet.tables.named_columns import cell_texts, check_named, label_text, without_group
from abnet.tables.preparation.input_shift import ColumnCheck, refuse_shift, shift_notes
from abnet.tables.preparation.numeric_rows import number_cells
from abnet.tables.table import Table, as_table
from abnet.tables.table_errors import listed
from abnet.tables.unseen import Unseen, merge
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.progress import report_progress
from abnet.utils.wording import number_of

__all__ = ["JudgedTable", "judge_model_rows", "judge_predictions", "target_of"]


@dataclass
class JudgedTable:
    """Labels, answers and declared columns of the rows that have a label.

    Attributes
    ----------
    truth, answers : list
        Labels as text, and answers; None for a missing answer.
    columns : dict
        Cells of the requested columns as text, by column name; None for a missing cell.
    nameless : dict
        Text about the rows without a cell in these columns.
    unlabelled : int
        Number of rows without a label, which are left out.
    seen : FittedRows or None
        Counter of training rows among these rows; None if the model stores no filter.
    unseen : list
        Categories that do not occur in the training rows.
    known : tuple of str
        Labels that the model knows; empty for the answers of another model.
    scores : list of float
        Scores of the rows, if requested.
    together : list of str or None
        Cells of the group column with which the model was fitted, if the table has it.
    said : list of str
        Further notes.
    total : int
        Sum of the hashes of all rows (`hash_sum`).
    decision : Decision
        How an abnet model answers.
    promised : Certificate or None
        Its own certificate.
    inputs : list of ColumnCheck
        The columns of the table, compared with the training rows of the model.
    """

    truth: list[str] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    columns: dict[str, list[str | None]] = field(default_factory=dict)
    nameless: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unlabelled: int = 0
    seen: FittedRows | None = None
    unseen: list[Unseen] = field(default_factory=list)
    known: tuple[str, ...] = ()
    scores: list[float] = field(default_factory=list)
    together: list[str | None] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    total: int = 0
    decision: Decision = ARGMAX
    promised: Certificate | None = None
    inputs: list[ColumnCheck] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """A fingerprint of all cells of the table, which does not depend on the order of the rows."""
        return f"{self.total:016x}"

    def judged(self) -> Judged:
        """The answers and labels as codes."""
        if not self.truth:
            raise TableError("no row of the table has a label, so nothing can be certified.")
        return judge_answers(self.truth, self.answers, known=self.known)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the table for the user."""
        whole = number_of(self.unlabelled + len(self.truth), "row")
        left_out = f"{self.unlabelled:,} of {whole} have no label and were left out"
        return (*([left_out] * (self.unlabelled > 0)), *self.doubts)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Notes about possible problems with the labelled rows."""
        notes = []
        if self.seen is not None and self.seen.reused:
            notes.append(
                f"{self.seen.found:,} of {self.seen.n_rows:,} rows have the same values and label as rows that "
                "the model was fitted on; if they are the same rows, they prove nothing about new data"
            )
        silent = 0 if self.scores and not any(self.answers) else self.answers.count(None)
        notes += [f"counted as errors: {number_of(silent, 'row')} without an answer"] * (silent > 0)
        if strange := Counter(label for label in self.truth if self.known and label not in self.known):
            shown, known = listed(sorted(strange), most=3), listed(self.known, most=3)
            rows_of = number_of(strange.total(), "row")
            notes.append(
                f"counted as errors: {rows_of} with labels that the model does not know ({shown}, not {known})"
            )
        return (*map(str, [*shift_notes(self.inputs), *self.unseen]), *notes, *self.said)

    def check_alone(self, loaded: Model) -> None:
        """Raise an error if rows share a group; add a note if the table does not have the group column."""
        note = check_single_rows(loaded.card, self.together or None, "group")
        if note is not None:
            self.said.append(note)

    def groups(self, column: str) -> list[str]:
        """The group of each row; raises a TableError if some rows have no group."""
        if self.nameless[column]:
            raise TableError(f"column {column!r}: {without_group(self.nameless[column])}")
        return [str(cell) for cell in self.columns[column]]

    def populations(self, column: str) -> list[str]:
        """The population of each row; rows without a cell form a population of their own."""
        return ["(missing)" if cell is None else cell for cell in self.columns[column]]


def target_of(model: Model, truth: str | None) -> str:
    """The column with the labels: the given one, or the one that the model predicts."""
    target = truth or model.card.target
    if not isinstance(target, str):
        raise ParameterError(
            "the model does not store which column it predicts: name the column with labels ({}).", Parameter("truth")
        )
    return target


def judge_model_rows(
    model: Model,
    table: Any,
    *,
    truth: str | None = None,
    columns: dict[str, str] | None = None,
    scored: str | None = None,
    allow_shift: bool = True,
) -> JudgedTable:
    """Predict the labelled rows of a table; the answers are those of the model's decision.

    Parameters
    ----------
    model : Model
    table : path, frame, or iterable of frames
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    columns : dict, optional
        Further columns to keep, by the parameter that names each.
    scored : str, optional
        The label whose scores to compute; an empty text stands for the model's confidence in its answers.
    allow_shift : bool
        As for `predict_table`.
    """
    target, columns = target_of(model, truth), columns or {}
    names = model.labels.names
    result = JudgedTable(columns={name: [] for name in columns.values()}, known=tuple(map(label_text, names)))
    if scored is None:
        result.decision, result.promised = model.decision, model.certificate
    result.seen = filter_of(model)
    before, group, watch = 0, model.card.group, InputWatch(model)
    for batch in frames_of(table, progress=lambda share: report_progress("Predicting the rows", share)):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        labelled = _keep_labels(frame, {"truth": target, **columns}, result, model.card.cuts)
        result.total = (result.total + _row_sum(frame)) % 2**64
        if isinstance(group, str) and group in frame.columns:
            result.together += [cell for cell, row in zip(cell_texts(frame, group), labelled, strict=True) if row]
        read = prepared(model, frame)
        rows = read.inputs
        result.unseen = merge([*result.unseen, *read.unseen])
        watch.add(read)
        if result.decision != ARGMAX:
            codes = model.decision(model.predictor.scores(rows))
        else:  # scores of the plain vote, for which a threshold is still to be found
            codes = model.predictor.votes(rows)
        answers = [*result.known, None]
        if scored is not None:
            result.scores += _model_scores(model, rows, scored)[labelled].tolist()
        result.answers += [answers[code] for code in codes[labelled].tolist()]
        if result.seen is not None:
            known = {name: code for code, name in enumerate(result.known)}
            new = result.truth[len(result.truth) - int(labelled.sum()) :]
            codes = np.array([known.get(label, -1) for label in new], np.intp)
            result.seen.add(dense(rows[labelled]), label_values(codes, len(names)))
    result.inputs = watch.check(result.unseen)
    refuse_shift(result.inputs, allow_shift=allow_shift)
    return result


def _model_scores(model: Model, rows: Any, label: str) -> NDArray[np.float64]:
    """The model's confidence in its answers, or the scores of one of two classes."""
    scores, names = model.predictor.scores(rows), [label_text(name) for name in model.labels.names]
    if not label:
        return confidence(scores)
    if len(names) > 2:
        raise ParameterError("a target recall, a target precision and costs are for two classes; the model has more.")
    if label not in names:
        raise ParameterError("{} must be {}, not {!r}.", Parameter("positive_class"), listed(names), label)
    return scores if names.index(label) else -scores


def judge_predictions(
    table: Any, *, truth: str, prediction: str | None, score: str | None = None, columns: dict[str, str] | None = None
) -> JudgedTable:
    """Labels and answers of a table, or labels and scores; a row without an answer counts as an error.

    Parameters are as for `judge_model_rows`; `prediction` and `score` name columns.
    """
    columns = columns or {}
    result = JudgedTable(columns={name: [] for name in columns.values()})
    before = 0
    for batch in frames_of(table, progress=lambda share: report_progress("Reading the predictions", share)):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        for name, column in (("prediction", prediction), ("score", score)):
            check_named(name, [] if column is None else [column], frame.columns)
        labelled = _keep_labels(frame, {"truth": truth, **columns}, result)
        if score is not None:
            result.scores += _score_cells(frame, score)[labelled].tolist()
        answers = [None] * frame.n_rows if prediction is None else cell_texts(frame, prediction)
        result.answers += [answer for answer, row in zip(answers, labelled, strict=True) if row]
    if prediction is not None:
        _check_answers(result, prediction, truth)
    return result


def _check_answers(rows: JudgedTable, prediction: str, truth: str) -> None:
    """Raise an error if no answer is a label: the column then holds something else, such as scores."""
    answers, labels = {answer for answer in rows.answers if answer is not None}, set(rows.truth)
    if not answers or not labels or answers & labels:
        return
    raise ParameterError(
        "{}: no cell of column {!r} is a label of column {!r}. Its cells are {}, and the labels are {}. Write the "
        "answers as these labels; a column of scores is {}, with a target.",
        Parameter("prediction"), prediction, truth, listed(sorted(answers), most=3), listed(sorted(labels), most=5),
        Parameter("score", prediction),
    )  # fmt: skip


def _score_cells(frame: Table, score: str) -> NDArray[np.float64]:
    cells = number_cells(frame, score)
    if np.isnan(cells).any():
        raise TableError(f"column {score!r}, {frame.row(int(np.argmax(np.isnan(cells))))}: there is no score.")
    return np.asarray(cells, np.float64)


def _keep_labels(
    frame: Table, columns: dict[str, str], result: JudgedTable, cuts: tuple[float, ...] = ()
) -> NDArray[np.bool_]:
    """Store the labels and columns of the labelled rows, and return which rows these are."""
    for parameter, column in columns.items():
        check_named(parameter, [column], frame.columns)
    labels = true_labels(frame, columns["truth"], cuts)
    labelled = np.array([label is not None for label in labels], dtype=bool)
    result.truth += [label for label in labels if label is not None]
    result.unlabelled += int((~labelled).sum())
    for name in (column for parameter, column in columns.items() if parameter != "truth"):
        found = [(cell, row) for row, cell in enumerate(cell_texts(frame, name)) if labelled[row]]
        result.columns[name] += [cell for cell, _ in found]
        result.nameless[name] += [frame.row(row) for cell, row in found if cell is None]
    return labelled


def _row_sum(frame: Table) -> int:
    """The sum of the rows' hashes, the same for any order of the rows and columns, in a file of any format."""
    return hash_sum(row_hashes({name: cell_texts(frame, name) for name in sorted(frame.columns)}))
