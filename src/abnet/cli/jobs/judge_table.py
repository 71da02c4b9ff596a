"""Errors of a model, or of answers in a file, on labelled rows: the jobs of `abnet certify` and `abnet monitor`."""

import hashlib
import shlex
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import check_writable
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms
from abnet.certificates.decision import sureness
from abnet.certificates.fitted_rows import FittedRows
from abnet.cli.console import UsageError
from abnet.cli.jobs.inputs import cell_texts, label_text, without_group
from abnet.cli.jobs.predict_table import ROWS, prepared
from abnet.decisions.certify_model import confusion_of
from abnet.decisions.monitor import Monitor
from abnet.decisions.outside import Judged, judge_answers
from abnet.decisions.training_rows import filter_of, label_marks
from abnet.model.file import load
from abnet.model.model import Model
from abnet.preparation.columns import numbers
from abnet.preparation.unseen import Unseen, merge
from abnet.tables import TableError, batches
from abnet.tables.cells import listed, to_text
from abnet.tables.frames import Table, as_table
from abnet.words import number_of

__all__ = [
    "JudgedTable",
    "WatchOutcome",
    "judge_model_file",
    "judge_predictions",
    "watch_model",
]


@dataclass
class JudgedTable:
    """Labels, answers and declared columns of the rows that have a label.

    Attributes
    ----------
    truth, answers : list
        Labels as text, and answers; None for a missing answer.
    columns : dict
        Cells of the columns that were asked for, as text, by their names; None where they are missing.
    nameless : dict
        Rows without a cell in these columns, in words.
    unlabelled : int
        Rows without a label, which are left out.
    seen : FittedRows or None
        Rows that the model learned from, by its filter; None where it keeps none.
    unseen : list
        Categories that training never saw.
    known : tuple of str
        Labels that the model knows; empty where it lives elsewhere.
    scores : list of float
        Scores of the rows, where they were asked for.
    together : list of str or None
        Cells of the column by which the model was fitted in groups, if the table has it.
    said : list of str
        Further notices.
    total : int
        Sum of the hashes of the rows with all their cells.
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

    @property
    def digest(self) -> str:
        """A name of all cells of the table's rows, in any order of the rows."""
        return f"{self.total:032x}"

    def judged(self) -> Judged:
        """Where the answers are wrong."""
        if not self.truth:
            raise TableError("no row of the table has a label, so nothing can be certified.")
        return judge_answers(self.truth, self.answers, known=self.known)

    def confusion(self, terms: Terms) -> Certificate:
        """Labels against answers."""
        # A model of ours answers with labels that it knows; one that lives elsewhere may say anything.
        return confusion_of(self.judged(), terms, others=not self.known)

    @property
    def notices(self) -> list[str]:
        """What the user should know about the table."""
        missing = number_of(self.unlabelled, "row")
        left_out = f"left out: {missing} without a label; nothing is said about such rows"
        return [*([left_out] * (self.unlabelled > 0)), *self.doubts]

    @property
    def doubts(self) -> list[str]:
        """What may be wrong with the labelled rows."""
        notes = []
        if self.seen is not None and self.seen.reused:
            notes.append(
                f"{self.seen.found:,} of {self.seen.n_rows:,} rows have the values and the label of rows that the "
                "model learned from; if they are the same rows, they prove nothing about new ones"
            )
        silent = 0 if self.scores and not any(self.answers) else self.answers.count(None)
        notes += [f"counted as errors: {number_of(silent, 'row')} without an answer"] * (silent > 0)
        if strange := Counter(label for label in self.truth if self.known and label not in self.known):
            shown, known = listed(sorted(strange), most=3), listed(self.known, most=3)
            rows_of = number_of(strange.total(), "row")
            notes.append(
                f"counted as errors: {rows_of} with labels that the model does not know ({shown}, not {known})"
            )
        return [*map(str, self.unseen), *notes, *self.said]

    def check_alone(self, loaded: Model) -> None:
        """Refuse to count rows one by one where those of one group stand together; say it where nobody can tell."""
        if not loaded.card.n_training_groups:
            return
        group = loaded.card.group
        shared = len(self.together) - len(set(self.together)) if None not in self.together else 1
        if shared:
            raise TableError(
                f"the model was fitted on groups of rows, and rows of the table share one ({group!r}): add --group "
                f"{shlex.quote(str(group))}. A bound that counts rows does not hold for them."
            )
        if not self.together:
            named = f" (column {group!r})" if isinstance(group, str) else ""
            self.said.append(
                f"the model was fitted on groups of rows{named}, and its own certificate is about a new group; this "
                "one counts rows, and holds only if no two of them belong together (--group COLUMN)"
            )

    def groups(self, column: str) -> list[str]:
        """The rows' groups; TableError where some have none, which are not one group, nor known to stand alone."""
        if self.nameless[column]:
            raise TableError(f"column {column!r}: {without_group(self.nameless[column])}")
        return [str(cell) for cell in self.columns[column]]

    def populations(self, column: str) -> list[str]:
        """The rows' populations; those without a cell are one, and called so."""
        return ["(missing)" if cell is None else cell for cell in self.columns[column]]

    def check_costs(self, costs: dict[tuple[str, str], float], positive: str) -> dict[tuple[str, str], float]:
        """Costs by labels as the table writes them; UsageError for a label that there is not, or given twice."""
        named = {(label_text(truth), label_text(answer)): cost for (truth, answer), cost in costs.items()}
        labels = list(dict.fromkeys(label for pair in named for label in pair))
        there = list(self.known) or sorted(set(self.truth))
        strange = [label for label in labels if label not in there]
        if strange:
            raise UsageError(f"--costs: no label {listed(strange)}; the labels are {listed(there)}.")
        if len(named) < len(costs):
            raise UsageError("--costs: a pair of labels is given twice.")
        if positive not in labels or len(labels) != 2:
            raise UsageError(f"--costs must name {positive!r} and one other label; got {listed(labels)}.")
        neither = sum(label not in labels for label in self.truth)
        if neither:
            self.said.append(
                f"{number_of(neither, 'row')} with a label that is neither {labels[0]} nor {labels[1]} cost as much as "
                "anything can"
            )
        return named


def judge_model_file(
    model: Path,
    table: Path,
    *,
    truth: str | None = None,
    columns: tuple[str, ...] = (),
    scored: str | None = None,
) -> tuple[Model, JudgedTable]:
    """Predict the rows of a table that have a label, and keep both.

    Parameters
    ----------
    model, table : path
    truth : str, optional
        Column with the labels; by default the one that the model was fitted to.
    columns : tuple of str
        Further columns to keep.
    scored : str, optional
        The label that scores are to speak for; an empty text asks how sure the model is of its answers.
    """
    loaded = load(model)
    target = truth or loaded.card.target
    if not isinstance(target, str):
        raise UsageError(f"{model} does not say which column it predicts: name it with --truth COLUMN.")
    names = loaded.labels.names
    result = JudgedTable(columns={name: [] for name in columns}, known=tuple(map(label_text, names)))
    result.seen = filter_of(loaded)
    before, group = 0, loaded.card.group
    for batch in batches(table, rows=ROWS):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        labelled = _keep_labels(frame, target, columns, result)
        result.total = (result.total + _row_sum(frame)) % 2**128
        if isinstance(group, str) and group in frame.columns:
            result.together += [cell for cell, row in zip(cell_texts(frame, group), labelled, strict=True) if row]
        rows, reports = prepared(loaded, frame, written=False)
        answers = loaded.labels.decode(loaded.predictor.votes(rows)).tolist()
        if scored is not None:
            result.scores += _model_scores(loaded, rows, scored)[labelled].tolist()
        result.answers += [label_text(to_text(answer)) for answer, row in zip(answers, labelled, strict=True) if row]
        result.unseen = merge([*result.unseen, *reports])
        if result.seen is not None:
            known = {name: code for code, name in enumerate(result.known)}
            new = result.truth[len(result.truth) - int(labelled.sum()) :]
            codes = np.array([known.get(label, -1) for label in new], np.intp)
            written: Any = prepared(loaded, frame)[0]
            result.seen.add(written[labelled], label_marks(codes, len(names)))
    return loaded, result


def _model_scores(loaded: Model, rows: Any, label: str) -> NDArray[np.float64]:
    """How sure a model is of its answers, or, of two classes, how much speaks for one."""
    scores, names = loaded.predictor.scores(rows), [label_text(name) for name in loaded.labels.names]
    if not label:
        return sureness(scores)
    if len(names) > 2:
        raise UsageError("--target-recall, --target-precision and --costs are for two classes.")
    if label not in names:
        raise UsageError(f"--positive-class must be {listed(names)}, not {label!r}.")
    return scores if names.index(label) else -scores


def judge_predictions(
    table: Path, *, truth: str, prediction: str | None, columns: tuple[str, ...] = (), score: str | None = None
) -> JudgedTable:
    """Labels and answers of a file, or labels and scores; a row without an answer is an error of the model."""
    result = JudgedTable(columns={name: [] for name in columns})
    before = 0
    for batch in batches(table, rows=ROWS):
        frame = as_table(batch, before=before)
        before += frame.n_rows
        given = tuple(name for name in (prediction, score) if name is not None)
        labelled = _keep_labels(frame, truth, (*given, *columns), result, keep=columns)
        if score is not None:
            result.scores += _score_cells(frame, score)[labelled].tolist()
        answers = [None] * frame.n_rows if prediction is None else cell_texts(frame, prediction)
        result.answers += [answer for answer, row in zip(answers, labelled, strict=True) if row]
    return result


def _score_cells(frame: Table, score: str) -> NDArray[np.float64]:
    cells = numbers(frame, score)
    if np.isnan(cells).any():
        raise TableError(f"column {score!r}, {frame.row(int(np.argmax(np.isnan(cells))))}: there is no score.")
    return np.asarray(cells, np.float64)


def _keep_labels(
    frame: Table, truth: str, columns: tuple[str, ...], result: JudgedTable, *, keep: tuple[str, ...] | None = None
) -> NDArray[np.bool_]:
    """Keep the labels and the columns of the rows that have a label; which rows these are."""
    absent = [name for name in (truth, *columns) if name not in frame.columns]
    if absent:
        raise UsageError(f"no column {listed(absent)} in the table; its columns are {listed(list(frame.columns))}.")
    labels = cell_texts(frame, truth)
    labelled = np.array([label is not None for label in labels], dtype=bool)
    result.truth += [label for label in labels if label is not None]
    result.unlabelled += int((~labelled).sum())
    for name in columns if keep is None else keep:
        found = [(cell, row) for row, cell in enumerate(cell_texts(frame, name)) if labelled[row]]
        result.columns[name] += [cell for cell, _ in found]
        result.nameless[name] += [frame.row(row) for cell, row in found if cell is None]
    return labelled


def _row_sum(frame: Table) -> int:
    """The sum of the rows' hashes."""
    names = sorted(frame.columns)
    cells = zip(*(cell_texts(frame, name) for name in names), strict=True)
    marks = (hashlib.blake2b(repr((names, row)).encode(), digest_size=16).digest() for row in cells)
    return sum(int.from_bytes(mark) for mark in marks)


_ALPHA = 0.01


@dataclass(frozen=True)
class WatchOutcome:
    """The monitor after the new rows, and what should be said about them."""

    monitor: Monitor
    n_new: int
    errors_new: int
    unlabelled_new: int
    notices: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        m = self.monitor
        return {
            "alarm": m.alarm, "alarm_at": m.alarm_at, "log_evidence": m.log_evidence, "error": m.error,
            "alpha": m.alpha, "n": m.n, "errors": m.errors, "unlabelled": m.unlabelled,
            "upper_limit": m.upper_limit(), "new": {
                "n": self.n_new, "errors": self.errors_new, "unlabelled": self.unlabelled_new,
            },
        }  # fmt: skip


def watch_model(
    model: Path,
    table: Path,
    state: Path,
    *,
    error: float | None = None,
    alpha: float | None = None,
    truth: str | None = None,
    picture: Path | None = None,
    allow_repeat: bool = False,
) -> WatchOutcome:
    """Judge the new rows, add them to the state, and write it.

    Parameters
    ----------
    model, table, state : path
        Model file, labelled rows in their order, and the state, which is made if it is not there.
    error, alpha : float, optional
        The promised error, by default that of the model's certificate, and the probability of a false alarm.
    truth : str, optional
        Column with the labels.
    picture : path, optional
        Where to draw the evidence over these rows.
    allow_repeat : bool
        Count a table that was given before.
    """
    for path in (state, *([picture] if picture else [])):
        check_writable(path)
    watched = hashlib.sha256(model.read_bytes()).hexdigest()
    loaded, rows = judge_model_file(model, table, truth=truth)
    monitor = _opened(state, loaded, watched, error, alpha)
    wrong: Any = rows.judged().wrong if rows.truth else []
    before = {"n": monitor.n, "errors": monitor.errors}
    monitor.update(wrong, unlabelled=rows.unlabelled, digest=rows.digest, allow_repeat=allow_repeat)
    if picture is not None:
        from abnet.decisions.pictures import evidence_figure, save_picture

        save_picture(evidence_figure(wrong, monitor.error, monitor.alpha, **before), picture)
    monitor.save(state)
    notices = rows.doubts
    if rows.unlabelled:
        n_rows = number_of(rows.unlabelled + len(rows.truth), "row")
        notices.append(f"not counted: {rows.unlabelled:,} of {n_rows}, for want of a label")
    return WatchOutcome(monitor, len(rows.truth), int(sum(wrong)), rows.unlabelled, tuple(notices))


def _opened(state: Path, loaded: Model, watched: str, error: float | None, alpha: float | None) -> Monitor:
    if not state.exists():
        return Monitor(_promised(loaded, error), _ALPHA if alpha is None else alpha, watched=watched)
    monitor = Monitor.load(state)
    if monitor.watched not in (None, watched):
        raise ValueError(f"{state} belongs to another model: a new model needs a state of its own, with its own alpha.")
    for name, asked, kept in (("--error", error, monitor.error), ("--alpha", alpha, monitor.alpha)):
        if asked is not None and asked != kept:
            raise ValueError(f"{name} is {kept:g} in {state}, and cannot be changed to {asked:g} after rows were seen.")
    return monitor


def _promised(loaded: Model, error: float | None) -> float:
    if error is not None:
        return error
    certificate = loaded.certificate_
    bound = None if certificate is None else certificate.vote_error_bound
    if certificate is not None and certificate.facts.n_groups is not None:
        raise ValueError("the certificate is about new groups, and a monitor counts single rows: name an --error.")
    if bound is None or bound >= 1.0:
        raise ValueError("the model has no certificate whose promise could be watched: name an error with --error.")
    return bound
