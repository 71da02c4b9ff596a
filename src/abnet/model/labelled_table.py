"""Labelled rows of a table with their answers, from an abnet model or from a column of the table."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.copied_rows import CopiesInStream
from abnet.certificates.decision import ARGMAX, Decision, confidence
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.grouped_rows import check_single_rows
from abnet.certificates.judged_answers import Judged, judge_answers
from abnet.certificates.region_counts import LocatedRows
from abnet.certificates.row_hashing import hash_sum, row_hashes
from abnet.certificates.training_rows import filter_of, refuse_fitted
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
from abnet.utils.label_values import label_values
from abnet.utils.progress import report_progress
from abnet.utils.wording import number_of

__all__ = ["JudgedTable", "given_answers", "judge_model_rows", "judge_predictions", "new_answers", "target_of"]


@dataclass
class JudgedTable:
    """Labels, answers and declared columns of the rows that have a label.

    Attributes
    ----------
    truth, answers : list
        Labels as text, and answers; None for a missing answer.
    columns : dict
        Cells of the requested columns as text, by column name; None for a missing cell.
    rows_without_cell : dict
        The rows without a cell in these columns, in words.
    unlabelled : int
        Number of rows without a label, which are left out.
    fitted_rows : FittedRows or None
        Counter of training rows among these rows; None if the model stores no filter.
    unseen : list
        Categories that do not occur in the training rows.
    known : tuple of str
        Labels that the model knows; empty for the answers of another model.
    scores : list of float
        Scores of the rows, if requested.
    probabilities : list of float array (m, K)
        Probabilities of the classes, in blocks of rows, if requested.
    group_cells : list of str or None
        Cells of the group column with which the model was fitted, if the table has it.
    further_notes : list of str
    table_hash : int
        Sum of the hashes of all rows (`hash_sum`).
    decision : Decision
        How an abnet model answers.
    promised : Certificate or None
        Its own certificate.
    inputs : list of ColumnCheck
        The columns of the table, compared with the training rows of the model.
    signs : list of str
        The region of each row, for a model with regions.
    region_words : dict
        These regions in words, by their signs.
    """

    truth: list[str] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    columns: dict[str, list[str | None]] = field(default_factory=dict)
    rows_without_cell: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unlabelled: int = 0
    fitted_rows: FittedRows | None = None
    unseen: list[Unseen] = field(default_factory=list)
    known: tuple[str, ...] = ()
    scores: list[float] = field(default_factory=list)
    probabilities: list[NDArray[np.float64]] = field(default_factory=list)
    group_cells: list[str | None] = field(default_factory=list)
    further_notes: list[str] = field(default_factory=list)
    table_hash: int = 0
    decision: Decision = ARGMAX
    promised: Certificate | None = None
    inputs: list[ColumnCheck] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)
    region_words: Mapping[str, str] = field(default_factory=dict)

    @property
    def regions(self) -> LocatedRows | None:
        """The region of each row; None for a model without regions."""
        if not self.signs:
            return None
        return LocatedRows(np.array(self.signs), self.region_words)

    @property
    def answers_known_labels(self) -> bool:
        """Whether every answer is a label that the model knows, whatever the rows."""
        return bool(self.known) and self.decision.kind != "abstain"

    @property
    def digest(self) -> str:
        """A fingerprint of all cells of the table, which does not depend on the order of the rows."""
        return f"{self.table_hash:016x}"

    def judged(self) -> Judged:
        """The answers and labels as codes."""
        if not self.truth:
            raise TableError("no row of the table has a label, so nothing can be certified.")
        return judge_answers(self.truth, self.answers, known=self.known)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the table for the user."""
        if not self.unlabelled:
            return self.doubts
        rows = number_of(self.unlabelled + len(self.truth), "row")
        return (f"{self.unlabelled:,} of {rows} have no label and were left out", *self.doubts)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Notes about possible problems with the labelled rows."""
        notes = [str(note) for note in (*shift_notes(self.inputs), *self.unseen)]
        if self.fitted_rows is not None and self.fitted_rows.reused:
            notes.append(
                f"{self.fitted_rows.found:,} of {self.fitted_rows.n_rows:,} rows have the same values and label as "
                "rows that the model was fitted on; if they are the same rows, they prove nothing about new data"
            )
        has_only_scores = bool(self.scores) and not any(self.answers)
        n_unanswered = self.answers.count(None)
        if n_unanswered and not has_only_scores:
            notes.append(f"counted as errors: {number_of(n_unanswered, 'row')} without an answer")
        if self.known:
            notes += self._notes_on_unknown_labels()
        return (*notes, *self.further_notes)

    def _notes_on_unknown_labels(self) -> list[str]:
        """A note on labels that the model does not know, if there are any."""
        unknown = Counter(label for label in self.truth if label not in self.known)
        if not unknown:
            return []
        labels = listed(sorted(unknown), most=3)
        known = listed(self.known, most=3)
        rows = number_of(unknown.total(), "row")
        return [f"counted as errors: {rows} with labels that the model does not know ({labels}, not {known})"]

    def check_alone(self, loaded: Model) -> None:
        """Raise an error if rows share a group; add a note if the table does not have the group column."""
        note = check_single_rows(loaded.card, self.group_cells or None, "group")
        if note is not None:
            self.further_notes.append(note)

    def groups(self, column: str) -> list[str]:
        """The group of each row; raises a TableError if some rows have no group."""
        missing = self.rows_without_cell[column]
        if missing:
            raise TableError(f"column {column!r}: {without_group(missing)}")
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
    probabilities: bool = False,
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
    probabilities : bool
        Whether to compute the probabilities of all classes.
    allow_shift : bool
        As for `predict_table`.
    """
    named_columns = {"truth": target_of(model, truth), **(columns or {})}
    group = model.card.group
    known = tuple(label_text(name) for name in model.labels.names)
    result = JudgedTable(known=known, fitted_rows=filter_of(model), columns=_no_cells(columns))
    if scored is None:
        result.decision = model.decision
        result.promised = model.certificate
    watch = InputWatch(model)
    copies = CopiesInStream()
    n_before = 0
    for batch in frames_of(table, progress=lambda share: report_progress("Predicting the rows", share)):
        frame = as_table(batch, before=n_before)
        n_before += frame.n_rows
        labels, is_labelled = _keep_labels(frame, named_columns, result, model.card.cuts)
        result.table_hash = (result.table_hash + _row_sum(frame)) % 2**64
        if isinstance(group, str) and group in frame.columns:
            result.group_cells += _of_labelled(cell_texts(frame, group), is_labelled)
        read = prepared(model, frame)
        result.unseen = merge([*result.unseen, *read.unseen])
        watch.add(read)
        if result.decision == ARGMAX:
            answers = model.predictor.votes(read.inputs)
        else:
            answers = model.decision(model.predictor.scores(read.inputs))
        located = model.located_inputs(read.inputs)
        if located is not None:
            result.signs += located.signs[is_labelled].tolist()
            result.region_words = located.words
        texts = [*known, None]  # None for no answer
        result.answers += [texts[answer] for answer in answers[is_labelled].tolist()]
        if scored is not None:
            result.scores += _model_scores(model, read.inputs, scored)[is_labelled].tolist()
        if probabilities:
            shares = model.probabilities_from_scores(model.predictor.scores(read.inputs))
            result.probabilities.append(shares[is_labelled])
        codes = np.array([_code_of(label, known) for label in labels], np.intp)
        inputs = dense(read.inputs[is_labelled])
        if len(codes):
            copies.add(inputs, codes)
        if result.fitted_rows is not None:
            result.fitted_rows.add(inputs, label_values(codes, len(known)))
    copied = copies.warning(known)
    if copied and "group" not in named_columns:
        result.further_notes.append(copied)
    result.inputs = watch.check(result.unseen)
    refuse_shift(result.inputs, allow_shift=allow_shift)
    return result


def new_answers(model: Model, table: Any, *, allow_shift: bool = True) -> list[str | None]:
    """The model's answers to unlabelled rows; raises a TrainingRowsError for rows of its fit.

    Rows of a fit are recognised with their labels, and most of them are answered with their label.
    """
    texts = [*(label_text(name) for name in model.labels.names), None]  # None for no answer
    fitted_rows = filter_of(model)
    watch = InputWatch(model)
    unseen: list[Unseen] = []
    answers: list[str | None] = []
    n_before = 0
    for batch in frames_of(table, progress=lambda share: report_progress("Predicting the new rows", share)):
        frame = as_table(batch, before=n_before)
        n_before += frame.n_rows
        read = prepared(model, frame)
        unseen = merge([*unseen, *read.unseen])
        watch.add(read)
        codes = model.decision(model.predictor.scores(read.inputs))
        answers += [texts[code] for code in codes.tolist()]
        if fitted_rows is not None:
            fitted_rows.add(dense(read.inputs), label_values(codes, model.n_classes))
    refuse_shift(watch.check(unseen), allow_shift=allow_shift)
    refuse_fitted(fitted_rows, instead="Unlabelled rows must be new to the model, too.")
    return answers


def given_answers(table: Any, prediction: str) -> list[str | None]:
    """The answers in a column of a table, as text; None where they are missing."""
    answers: list[str | None] = []
    for batch in frames_of(table):
        frame = as_table(batch, before=len(answers))
        check_named("prediction", [prediction], frame.columns)
        answers += cell_texts(frame, prediction)
    return answers


def _code_of(label: str, known: tuple[str, ...]) -> int:
    """The code of a label; -1 if the model does not know it."""
    if label in known:
        return known.index(label)
    return -1


def _of_labelled(cells: list[str | None], is_labelled: NDArray[np.bool_]) -> list[str | None]:
    """The cells of the rows that have a label."""
    return [cell for cell, has_label in zip(cells, is_labelled.tolist(), strict=True) if has_label]


def _model_scores(model: Model, rows: Any, label: str) -> NDArray[np.float64]:
    """The model's confidence in its answers, or the scores of one of two classes."""
    scores = model.predictor.scores(rows)
    if not label:
        return confidence(scores)
    names = [label_text(name) for name in model.labels.names]
    if len(names) > 2:
        raise ParameterError(
            "a target recall, a target precision and costs are for two classes; the model has more. "
            "Without them, its own decision is certified."
        )
    if label not in names:
        raise ParameterError("{} must be {}, not {!r}.", Parameter("positive_class"), listed(names), label)
    if names.index(label) == 0:
        return -scores
    return scores


def judge_predictions(
    table: Any, *, truth: str, prediction: str | None, score: str | None = None, columns: dict[str, str] | None = None
) -> JudgedTable:
    """Labels and answers of a table, or labels and scores; a row without an answer counts as an error.

    Parameters are as for `judge_model_rows`; `prediction` and `score` name columns.
    """
    named_columns = {"truth": truth, **(columns or {})}
    result = JudgedTable(columns=_no_cells(columns))
    n_before = 0
    for batch in frames_of(table, progress=lambda share: report_progress("Reading the predictions", share)):
        frame = as_table(batch, before=n_before)
        n_before += frame.n_rows
        if prediction is not None:
            check_named("prediction", [prediction], frame.columns)
        if score is not None:
            check_named("score", [score], frame.columns)
        _, is_labelled = _keep_labels(frame, named_columns, result)
        answers: list[str | None] = [None] * frame.n_rows
        if prediction is not None:
            answers = cell_texts(frame, prediction)
        result.answers += _of_labelled(answers, is_labelled)
        if score is not None:
            result.scores += _score_cells(frame, score)[is_labelled].tolist()
    if prediction is not None:
        _check_answers(result, prediction, truth)
    return result


def _check_answers(rows: JudgedTable, prediction: str, truth: str) -> None:
    """Raise an error if no answer is a label: the column then holds something else, such as scores."""
    answers = {answer for answer in rows.answers if answer is not None}
    labels = set(rows.truth)
    if not answers or not labels or answers & labels:
        return
    raise ParameterError(
        "{}: no cell of column {!r} is a label of column {!r}. Its cells are {}, and the labels are {}. Write the "
        "answers as these labels; a column of scores is {}, with a target.",
        Parameter("prediction"),
        prediction,
        truth,
        listed(sorted(answers), most=3),
        listed(sorted(labels), most=5),
        Parameter("score", prediction),
    )


def _score_cells(frame: Table, score: str) -> NDArray[np.float64]:
    """The scores of all rows; raises a TableError for a row without a score."""
    cells = number_cells(frame, score)
    is_missing = np.isnan(cells)
    if is_missing.any():
        row = frame.row(int(is_missing.argmax()))
        raise TableError(f"column {score!r}, {row}: there is no score. Every row needs one: leave rows without out.")
    return np.asarray(cells, np.float64)


def _no_cells(columns: dict[str, str] | None) -> dict[str, list[str | None]]:
    """An empty list for each column to keep."""
    return {column: [] for column in (columns or {}).values()}


def _keep_labels(
    frame: Table, columns: dict[str, str], result: JudgedTable, cuts: tuple[float, ...] = ()
) -> tuple[list[str], NDArray[np.bool_]]:
    """Store the labels and columns of the labelled rows; return these labels, and which rows have one."""
    for parameter, column in columns.items():
        check_named(parameter, [column], frame.columns)
    cells = true_labels(frame, columns["truth"], cuts)
    labels = [label for label in cells if label is not None]
    is_labelled = np.array([label is not None for label in cells], dtype=bool)
    result.truth += labels
    result.unlabelled += len(cells) - len(labels)
    for parameter, column in columns.items():
        if parameter == "truth":
            continue
        kept = result.columns[column]
        for row, cell in enumerate(cell_texts(frame, column)):
            if not is_labelled[row]:
                continue
            kept.append(cell)
            if cell is None:
                result.rows_without_cell[column].append(frame.row(row))
    return labels, is_labelled


def _row_sum(frame: Table) -> int:
    """The sum of the rows' hashes, the same for any order of the rows and columns, in a file of any format."""
    return hash_sum(row_hashes({name: cell_texts(frame, name) for name in sorted(frame.columns)}))
