"""`monitor`: watch a deployed model with tables of labelled rows; the state is stored in a file."""

import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.certificate_file import kind_of_record
from abnet.certificates.decision import ARGMAX
from abnet.certificates.monitor import Monitor, Quantity
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.rate_test import CutTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.training_rows import refuse_fitted
from abnet.model.check_inputs import CheckedInputs
from abnet.model.file import load
from abnet.model.labelled_table import JudgedTable, judge_model_rows, judge_predictions
from abnet.model.model import Model
from abnet.tables.named_columns import label_text
from abnet.tables.table_errors import listed
from abnet.utils.atomic import check_writable
from abnet.utils.errors import NamesParameters, Parameter, ParameterError
from abnet.utils.parameters import check_fraction
from abnet.utils.text_layout import paragraphs

__all__ = ["ALPHA", "MonitoredTable", "UnwatchableError", "certified_error", "errors_that_count", "monitor"]


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
        names = (
            "alarm",
            "alarm_at",
            "log_evidence",
            "quantity",
            "label",
            "error",
            "alpha",
            "n",
            "errors",
            "unlabelled",
        )
        return {
            **{name: getattr(self.monitor, name) for name in names},
            "upper_limit": self.monitor.upper_limit(),
            "new": {"n": self.n_new, "errors": self.errors_new, "unlabelled": self.unlabelled_new},
            "inputs": self.inputs.to_dict(),
        }


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
    prediction: str | None = None,
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
        The model file, or, with `prediction`, a saved certificate of any model. Its hash is stored, because a new model
        needs a new state.
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
    prediction : str, optional
        Column with the answers of the model that the certificate is about. Training rows are not recognised, and
        columns are not compared with those of training, because a certificate holds neither.
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
    wanted = _watched_rate({"error": error, "recall": recall, "precision": precision})
    if alpha is not None:
        check_fraction("alpha", alpha)
    check_writable(state)
    watched: Model | Certificate
    if kind_of_record(model) == "certificate":
        watched = load_certificate(model)
        rows = _given_answers(watched, table, truth, prediction)
    else:
        if prediction is not None:
            raise ParameterError(
                "{} is for the saved certificate of another model; {} is a model, which gives its own answers.",
                Parameter("prediction"),
                str(model),
            )
        watched = load(model)
        rows = judge_model_rows(watched, table, truth=truth, allow_shift=allow_shift)
    digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    if Path(state).exists():
        watch = _stored_monitor(Path(state), digest, wanted, positive_class, alpha)
    else:
        watch = _new_monitor(watched, digest, wanted or WatchedRate("error"), positive_class, alpha)
    refuse_fitted(rows.fitted_rows, instead="A monitor counts rows that are new to the model.")
    wrong = errors_that_count(rows, watch.quantity, watch.label)
    watch.update(wrong, unlabelled=rows.unlabelled, digest=rows.digest, allow_repeat=allow_repeat)
    watch.save(state)
    inputs = CheckedInputs(len(rows.truth) + rows.unlabelled, tuple(rows.inputs), watch.alpha)
    return MonitoredTable(watch, len(wrong), int(wrong.sum()), rows.unlabelled, rows.doubts, inputs)


def _given_answers(certificate: Certificate, table: Any, truth: str | None, prediction: str | None) -> JudgedTable:
    """Labels and answers in a table, for a model of which only the certificate is known."""
    for name, column in (("truth", truth), ("prediction", prediction)):
        if column is None:
            raise ParameterError(
                "a certificate gives no answers: {} must name a column of the table; got nothing.", Parameter(name)
            )
    rows = judge_predictions(table, truth=str(truth), prediction=prediction)
    rows.known = certificate.facts.classes
    return rows


class WatchedRate(NamedTuple):
    """A rate to watch.

    Attributes
    ----------
    quantity : {"error", "recall", "precision"}
    promised : float or "certified"
    """

    quantity: Quantity
    promised: Promised = "certified"

    @property
    def error(self) -> float | None:
        """The promised rate as a share of errors; None if it is that of the certificate."""
        if self.promised == "certified":
            return None
        if self.quantity == "error":
            return self.promised
        return 1.0 - self.promised


def _watched_rate(promises: dict[Quantity, Promised | None]) -> WatchedRate | None:
    """The rate to watch; None if none was given."""
    given = []
    for quantity, promised in promises.items():
        if promised is None:
            continue
        if quantity == "error" or promised != "certified":
            check_fraction(quantity, promised)
        given.append(WatchedRate(quantity, promised))
    if len(given) > 1:
        raise ParameterError(
            "a state watches one rate: give {} or {}, and the other one a state of its own.",
            Parameter(given[0].quantity),
            Parameter(given[1].quantity),
        )
    if not given:
        return None
    return given[0]


def errors_that_count(rows: JudgedTable, quantity: Quantity, label: str | None) -> NDArray[np.bool_]:
    """Whether the model was wrong on each of the rows that count for this quantity."""
    if not rows.truth:
        return np.zeros(0, np.bool_)
    judged = rows.judged()
    if quantity == "error":
        return judged.wrong
    positive = judged.names.index(str(label))
    if quantity == "recall":
        return judged.wrong[judged.truth == positive]
    return judged.wrong[judged.answers == positive]


def _new_monitor(
    model: Model | Certificate, digest: str, wanted: WatchedRate, positive: str | None, alpha: float | None
) -> Monitor:
    """A monitor that has seen no rows."""
    label = _positive_class(model, wanted.quantity, positive)
    error = wanted.error
    if error is None:
        if isinstance(model, Certificate):
            error = _certified_answers(model, wanted.quantity, label)
        else:
            error = certified_error(model, wanted.quantity, label)
    if alpha is None:
        alpha = ALPHA
    return Monitor(error, alpha, watched=digest, quantity=wanted.quantity, label=label)


def _stored_monitor(
    state: Path, digest: str, wanted: WatchedRate | None, positive: str | None, alpha: float | None
) -> Monitor:
    """The monitor in the state file; raises an error if it is of another model, or watches another rate."""
    stored = Monitor.load(state)
    if stored.watched not in (None, digest):
        raise ValueError(f"{state} belongs to another model; a new model needs a new state.")
    if wanted is not None and wanted.quantity != stored.quantity:
        raise UnwatchableError(
            "{} watches the {}, not the {}: give {} a state of its own.",
            str(state),
            stored.quantity,
            wanted.quantity,
            Parameter(wanted.quantity),
        )
    if positive is not None and label_text(positive) != stored.label:
        raise UnwatchableError(
            "{} watches the {} of class {}: leave out {}, or use another state.",
            str(state),
            stored.quantity,
            stored.label,
            Parameter("positive_class"),
        )
    _check_unchanged("alpha", alpha, stored.alpha, state)
    if wanted is not None and wanted.promised != "certified":
        kept = stored.error
        if wanted.quantity != "error":
            kept = 1.0 - stored.error
        _check_unchanged(wanted.quantity, wanted.promised, kept, state)
    return stored


def _check_unchanged(name: str, wanted: float | None, kept: float, state: Path) -> None:
    """Raise an error if a value of the state was given anew and differs."""
    if wanted is not None and not math.isclose(wanted, kept, rel_tol=1e-12):
        raise UnwatchableError(
            "{} is {:g} in {} and cannot be changed to {:g} after rows were seen.",
            Parameter(name),
            kept,
            str(state),
            wanted,
        )


def _positive_class(model: Model | Certificate, quantity: Quantity, positive: str | None) -> str | None:
    """The class that the quantity is about: the given one, or that of the model's threshold."""
    parameter = Parameter("positive_class")
    if quantity == "error":
        if positive is not None:
            raise ParameterError("{} goes with {} or {}.", parameter, Parameter("recall"), Parameter("precision"))
        return None
    if isinstance(model, Certificate):
        names = model.facts.classes
    else:
        names = tuple(label_text(name) for name in model.labels.names)
        if positive is None and model.decision.positive is not None:
            return names[model.decision.positive]
    if positive is None:
        raise ParameterError("{} must name the class to watch, {}; got nothing.", parameter, listed(names))
    if label_text(positive) not in names:
        raise ParameterError("{} must name the class to watch, {}; got {!r}.", parameter, listed(names), positive)
    return label_text(positive)


_AT_THRESHOLD: dict[Quantity, tuple[type[CutBound | CutTest], ...]] = {
    "error": (CutError,),
    "recall": (RecallTest, RecallBound),
    "precision": (PrecisionTest, PrecisionBound),
}
"""The statements about each quantity at a threshold."""


def certified_error(model: Model, quantity: Quantity, label: str | None) -> float:
    """The share of errors that the model's certificate promises for its own answers.

    This is what a monitor watches unless another rate is given; raises an UnwatchableError if nothing is promised.
    """
    certificate = model.certificate
    parameter = Parameter(quantity)
    if certificate is not None and certificate.facts.n_groups is not None:
        raise UnwatchableError(
            "the model's certificate is about new groups, but a monitor counts single rows: set {}.", parameter
        )
    if quantity != "error":
        return _certified_of_class(model, quantity, label)
    if model.decision.kind == "cut":
        bound = _certified_at_threshold(certificate, "error", None)
        if bound is None:
            raise UnwatchableError(
                "the model predicts with a threshold whose error rate its certificate does not bound: set {}, the "
                "error rate to watch.",
                parameter,
            )
        return bound
    if model.decision != ARGMAX:
        raise UnwatchableError(
            "the model follows a decision rule, but its certified error rate is that of the plain vote (the most "
            "likely class): set {}, the error rate to watch.",
            parameter,
        )
    if certificate is not None:
        bound = certificate.vote_error_bound
        if bound is not None and bound < 1.0:
            return bound
    raise UnwatchableError("the model has no certified error rate to watch: set {}.", parameter)


def _certified_answers(certificate: Certificate, quantity: Quantity, label: str | None) -> float:
    """The share of errors that a certificate promises for the answers that it counted."""
    if certificate.facts.n_groups is not None:
        raise UnwatchableError(
            "the certificate is about new groups, but a monitor counts single rows: set {}.", Parameter(quantity)
        )
    error = certificate.find(AnswerErrorRate, label)
    if quantity != "precision" and error is not None and error.answers != "vote":
        bound = error.value
        if bound is not None and bound < 1.0:
            return bound
    raise UnwatchableError(
        "the certificate bounds no {} of the answers: set {}, the rate to watch.", quantity, Parameter(quantity)
    )


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
        quantity,
        label,
        quantity,
        Parameter(quantity, 0.9),
    )


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
