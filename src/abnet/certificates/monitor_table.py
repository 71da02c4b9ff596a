"""`monitor`: watch a deployed model with tables of labelled rows; the state is stored in a file."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abnet.certificates.decision import ARGMAX
from abnet.certificates.labelled_table import judge_model_rows
from abnet.certificates.monitor import Monitor
from abnet.certificates.training_rows import refuse_fitted
from abnet.model.file import load
from abnet.model.model import Model
from abnet.utils.atomic import check_writable
from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.parameters import check_fraction

__all__ = ["MonitoredTable", "monitor"]


class UnwatchableError(NamesParameters, ValueError):
    """Raised if there is no certified error to watch, or if it differs from the one in the state."""


ALPHA = 0.01
"""Default probability of ever raising a false alarm."""


@dataclass(frozen=True)
class MonitoredTable:
    """The monitor after adding the new rows.

    Attributes
    ----------
    monitor : Monitor
    n_new, errors_new, unlabelled_new : int
        New rows with a label, errors among them, and new rows without one.
    notes : tuple of str
    """

    monitor: Monitor
    n_new: int
    errors_new: int
    unlabelled_new: int
    notes: tuple[str, ...]

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/α."""
        return self.monitor.alarm

    def describe(self) -> str:
        """Describe in plain English the errors so far and what they show."""
        return self.monitor.describe()

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


def monitor(
    model: str | os.PathLike[str],
    table: Any,
    state: str | os.PathLike[str],
    *,
    error: float | None = None,
    alpha: float | None = None,
    truth: str | None = None,
    picture: str | os.PathLike[str] | None = None,
    allow_repeat: bool = False,
) -> MonitoredTable:
    """Count a model's errors on new labelled rows, add them to the state, and write the state.

    Pass each labelled row once, in order, in as many calls as you like. The state file is replaced atomically: a killed
    job leaves either the old state or the new one.

    Parameters
    ----------
    model : path
        The model file. Its digest is stored, because a new model needs a new state.
    table : path, frame, or iterable of frames
        Labelled rows in order.
    state : path
        File with the state; it is created if it does not exist.
    error : float, optional
        The promised error; by default that of the model's certificate, if it is about the model's own answers.
    alpha : float, optional
        Probability of ever raising a false alarm; 0.01 by default.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    picture : path, optional
        File for a figure of the evidence over these rows.
    allow_repeat : bool
        Count a table that was given before.

    Raises
    ------
    RepeatedRowsError
        A ValueError: the table was given before.
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.
    """
    for name, value in (("error", error), ("alpha", alpha)):
        if value is not None:
            check_fraction(name, value)
    for path in (state, *([picture] if picture else [])):
        check_writable(path)
    watched, loaded = hashlib.sha256(Path(model).read_bytes()).hexdigest(), load(model)
    rows = judge_model_rows(loaded, table, truth=truth)
    refuse_fitted(rows.seen, instead="A monitor counts rows that are new to the model.")
    watch = _opened(Path(state), loaded, watched, error, alpha)
    wrong = rows.judged().wrong if rows.truth else np.zeros(0, np.bool_)
    before = {"n": watch.n, "errors": watch.errors}
    watch.update(wrong, unlabelled=rows.unlabelled, digest=rows.digest, allow_repeat=allow_repeat)
    if picture is not None:
        from abnet.certificates.pictures import evidence_figure, save_picture

        save_picture(evidence_figure(wrong.tolist(), watch.error, watch.alpha, **before), Path(picture))
    watch.save(state)
    return MonitoredTable(watch, len(rows.truth), int(wrong.sum()), rows.unlabelled, rows.doubts)


def _opened(state: Path, model: Model, watched: str, error: float | None, alpha: float | None) -> Monitor:
    if not state.exists():
        return Monitor(_promised(model, error), ALPHA if alpha is None else alpha, watched=watched)
    found = Monitor.load(state)
    if found.watched not in (None, watched):
        raise ValueError(f"{state} belongs to another model; a new model needs a new state.")
    for name, asked, kept in (("error", error, found.error), ("alpha", alpha, found.alpha)):
        if asked is not None and asked != kept:
            raise UnwatchableError(
                "{} is {:g} in {} and cannot be changed to {:g} after rows were seen.",
                Parameter(name), kept, str(state), asked,
            )  # fmt: skip
    return found


def _promised(model: Model, error: float | None) -> float:
    if error is not None:
        return error
    certificate = model.certificate
    bound, given = None if certificate is None else certificate.vote_error_bound, Parameter("error")
    if certificate is not None and certificate.facts.n_groups is not None:
        raise UnwatchableError(
            "the model's certificate is about new groups, but a monitor counts single rows: set {}.", given
        )
    if model.decision != ARGMAX:
        raise UnwatchableError(
            "the model predicts with a threshold or abstains, but its certified error rate is that of the plain vote "
            "(the most likely class): set {}, the error rate to watch.", given,
        )  # fmt: skip
    if bound is None or bound >= 1.0:
        raise UnwatchableError("the model has no certified error rate to watch: set {}.", given)
    return bound
