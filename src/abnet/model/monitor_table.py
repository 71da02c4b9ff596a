"""`monitor`: watch a deployed model with tables of labelled rows; the state is stored in a file."""

import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import ARGMAX
from abnet.certificates.monitor import Monitor, Quantity
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.rate_test import CutTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.training_rows import refuse_fitted
from abnet.model.check_inputs import CheckedInputs
from abnet.model.file import load
from abnet.model.labelled_table import JudgedTable, judge_model_rows
from abnet.model.model import Model
from abnet.tables.named_columns import label_text
from abnet.tables.table_errors import listed
from abnet.utils.atomic import check_writable
from abnet.utils.errors import NamesParameters, Parameter, ParameterError
from abnet.utils.parameters import check_fraction
from abnet.utils.text_layout import paragraphs

__all__ = ["MonitoredTable", "errors_that_count", "monitor"]


class UnwatchableError(NamesParameters, ValueError):
    """Raised if there is no certified rate to watch, or if it differs from the one in the state."""


ALPHA = 0.01
"""Default probability of ever raising a false alarm."""

Promised = float | Literal["certified"]
"""A rate, or that of the model's certificate."""


@dataclass(frozen=True)
class MonitoredTable:
    """The monitor after adding the new rows.

    Attributes
    ----------
    monitor : Monitor
    n_new, errors_new, unlabelled_new : int
        New rows that were counted, errors among them, and new rows without a label.
    notes : tuple of str
    inputs : CheckedInputs
        Whether the columns of the new rows look like those of the training rows.
    """

    monitor: Monitor
    n_new: int
    errors_new: int
    unlabelled_new: int
    notes: tuple[str, ...]
    inputs: CheckedInputs

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/α."""
        return self.monitor.alarm

    def describe(self) -> str:
        """Describe in plain English the errors so far and what they show, and the inputs of the new rows."""
        return f"{self.monitor.describe()}\n\n{paragraphs(self.inputs.sentence())}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        m = self.monitor
        return {
            "alarm": m.alarm, "alarm_at": m.alarm_at, "log_evidence": m.log_evidence, "quantity": m.quantity,
            "label": m.label, "error": m.error, "alpha": m.alpha, "n": m.n, "errors": m.errors,
            "unlabelled": m.unlabelled, "upper_limit": m.upper_limit(), "new": {
                "n": self.n_new, "errors": self.errors_new, "unlabelled": self.unlabelled_new,
            },
            "inputs": self.inputs.to_dict(),
        }  # fmt: skip


def monitor(
    model: str | os.PathLike[str],
    table: Any,
    state: str | os.PathLike[str],
    *,
    error: float | None = None,
    recall: Promised | None = None,
    precision: Promised | None = None,
    positive_class: str | None = None,
    alpha: float | None = None,
    truth: str | None = None,
    allow_repeat: bool = False,
    allow_shift: bool = True,
) -> MonitoredTable:
    """Count a model's errors on new labelled rows, add them to the state, and write the state.

    Pass each labelled row once, in order, in as many calls as you like. The state file is replaced atomically: a killed
    job leaves either the old state or the new one.

    By default the error rate is watched. For a recall only the rows of the positive class count, and for a precision
    only the rows that the model predicts as this class.

    Parameters
    ----------
    model : path
        The model file. Its digest is stored, because a new model needs a new state.
    table : path, frame, or iterable of frames
        Labelled rows in order.
    state : path
        File with the state; it is created if it does not exist.
    error : float, optional
        The promised error rate; by default that of the model's certificate, if it is about the model's own answers.
    recall, precision : float or "certified", optional
        Watch this promised recall or precision of the positive class, or that of the model's certificate.
    positive_class : str, optional
        The class that the recall or precision is about; by default that of the model's own threshold.
    alpha : float, optional
        Probability of ever raising a false alarm; 0.01 by default.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    allow_repeat : bool
        Count a table that was given before.
    allow_shift : bool
        Whether to count a table with a numeric column far outside its training range, as for `predict_table`.

    Raises
    ------
    RepeatedRowsError
        A ValueError: the table was given before.
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.
    """
    asked = _asked({"error": error, "recall": recall, "precision": precision})
    if alpha is not None:
        check_fraction("alpha", alpha)
    check_writable(state)
    watched, loaded = hashlib.sha256(Path(model).read_bytes()).hexdigest(), load(model)
    rows = judge_model_rows(loaded, table, truth=truth, allow_shift=allow_shift)
    watch = _opened(Path(state), loaded, watched, asked, positive_class, alpha)
    refuse_fitted(rows.seen, instead="A monitor counts rows that are new to the model.")
    wrong = errors_that_count(rows, watch.quantity, watch.label)
    watch.update(wrong, unlabelled=rows.unlabelled, digest=rows.digest, allow_repeat=allow_repeat)
    watch.save(state)
    inputs = CheckedInputs(len(rows.truth) + rows.unlabelled, tuple(rows.inputs), watch.alpha)
    return MonitoredTable(watch, len(wrong), int(wrong.sum()), rows.unlabelled, rows.doubts, inputs)


def _asked(rates: dict[Quantity, Promised | None]) -> tuple[Quantity, Promised] | None:
    """The quantity to watch and its promised rate; None if none was given."""
    given = [(name, rate) for name, rate in rates.items() if rate is not None]
    for name, rate in given:
        if name == "error" or rate != "certified":
            check_fraction(name, rate)
    if len(given) > 1:
        first, second = (Parameter(name) for name, _ in given[:2])
        raise ParameterError(
            "a state watches one rate: give {} or {}, and the other one a state of its own.", first, second
        )
    return given[0] if given else None


def errors_that_count(rows: JudgedTable, quantity: Quantity, label: str | None) -> NDArray[np.bool_]:
    """Whether the model was wrong on each of the rows that count for this quantity."""
    if not rows.truth:
        return np.zeros(0, np.bool_)
    judged = rows.judged()
    if quantity == "error":
        return judged.wrong
    counts = judged.truth if quantity == "recall" else judged.answers
    return judged.wrong[counts == judged.names.index(str(label))]


def _opened(
    state: Path, model: Model, watched: str, asked: tuple[Quantity, Promised] | None, positive: str | None,
    alpha: float | None,
) -> Monitor:  # fmt: skip
    if not state.exists():
        quantity, rate = asked or ("error", "certified")
        label = _positive(model, quantity, positive)
        error = _certified(model, quantity, label) if rate == "certified" else _as_error(quantity, rate)
        return Monitor(error, ALPHA if alpha is None else alpha, watched=watched, quantity=quantity, label=label)
    found = Monitor.load(state)
    if found.watched not in (None, watched):
        raise ValueError(f"{state} belongs to another model; a new model needs a new state.")
    if asked is not None and asked[0] != found.quantity:
        raise UnwatchableError(
            "{} watches the {}, not the {}: give {} a state of its own.",
            str(state), found.quantity, asked[0], Parameter(asked[0]),
        )  # fmt: skip
    if positive is not None and label_text(positive) != found.label:
        raise UnwatchableError(
            "{} watches the {} of class {}: leave out {}, or use another state.",
            str(state), found.quantity, found.label, Parameter("positive_class"),
        )  # fmt: skip
    given = {"alpha": (alpha, found.alpha)}
    if asked is not None and asked[1] != "certified":
        given[asked[0]] = (asked[1], found.error if asked[0] == "error" else 1.0 - found.error)
    for name, (wanted, kept) in given.items():
        if wanted is not None and not math.isclose(wanted, kept, rel_tol=1e-12):
            raise UnwatchableError(
                "{} is {:g} in {} and cannot be changed to {:g} after rows were seen.",
                Parameter(name), kept, str(state), wanted,
            )  # fmt: skip
    return found


def _as_error(quantity: Quantity, rate: float) -> float:
    """The promised rate as a share of errors."""
    return rate if quantity == "error" else 1.0 - rate


def _positive(model: Model, quantity: Quantity, positive: str | None) -> str | None:
    """The class that the quantity is about: the given one, or that of the model's threshold."""
    names, parameter = tuple(map(label_text, model.labels.names)), Parameter("positive_class")
    if quantity == "error":
        if positive is not None:
            raise ParameterError("{} goes with {} or {}.", parameter, Parameter("recall"), Parameter("precision"))
        return None
    if positive is None and model.decision.positive is not None:
        return names[model.decision.positive]
    if positive is None or label_text(positive) not in names:
        got = "nothing" if positive is None else repr(positive)
        raise ParameterError("{} must name the class to watch, {}; got {}.", parameter, listed(names), got)
    return label_text(positive)


_AT_THRESHOLD: dict[Quantity, tuple[type[CutBound | CutTest], ...]] = {
    "error": (CutError,),
    "recall": (RecallTest, RecallBound),
    "precision": (PrecisionTest, PrecisionBound),
}
"""The statements about each quantity at a threshold."""


def _certified(model: Model, quantity: Quantity, label: str | None) -> float:
    """The share of errors that the model's certificate promises for its own answers."""
    certificate, given = model.certificate, Parameter(quantity)
    if certificate is not None and certificate.facts.n_groups is not None:
        raise UnwatchableError(
            "the model's certificate is about new groups, but a monitor counts single rows: set {}.", given
        )
    if quantity != "error":
        return _certified_of_class(model, quantity, label)
    if model.decision.kind == "cut":
        bound = _certified_at_threshold(certificate, "error", None)
        if bound is None:
            raise UnwatchableError(
                "the model predicts with a threshold whose error rate its certificate does not bound: set {}, the "
                "error rate to watch.", given,
            )  # fmt: skip
        return bound
    if model.decision != ARGMAX:
        raise UnwatchableError(
            "the model abstains, but its certified error rate is that of the plain vote (the most likely class): set "
            "{}, the error rate to watch.", given,
        )  # fmt: skip
    bound = None if certificate is None else certificate.vote_error_bound
    if bound is None or bound >= 1.0:
        raise UnwatchableError("the model has no certified error rate to watch: set {}.", given)
    return bound


def _certified_of_class(model: Model, quantity: Quantity, label: str | None) -> float:
    """One minus the certified recall or precision: that of the threshold, or the recall of the plain vote."""
    certificate = model.certificate
    if model.decision.kind == "cut":
        rate = _certified_at_threshold(certificate, quantity, label)
        if rate is not None:
            return 1.0 - rate
    if certificate is not None and model.decision == ARGMAX and quantity == "recall":
        bounds = {label_text(part.label): part.vote_error_bound for part in certificate.per_class}
        bound = bounds.get(str(label))
        if bound is not None and bound < 1.0:
            return bound
    raise UnwatchableError(
        "the model has no certified {} of class {}: give the {} to watch, such as {}.",
        quantity, label, quantity, Parameter(quantity, 0.9),
    )  # fmt: skip


def _certified_at_threshold(certificate: Certificate | None, quantity: Quantity, label: str | None) -> float | None:
    """The certified rate at the model's own threshold; None if there is none that says anything."""
    if certificate is None:
        return None
    for statement in certificate.statements:
        if not isinstance(statement, _AT_THRESHOLD[quantity]) or label not in (None, statement.label):
            continue
        if statement.value is not None and 0.0 < statement.value < 1.0:
            return statement.value
    return None
