"""New labelled rows of a deployed model, and the evidence so far: the job of `abnet monitor`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abnet.atomic import check_writable
from abnet.bounds.certificate import Certificate
from abnet.cli.guard import UsageError
from abnet.cli.jobs.judge_table import judge_model_file
from abnet.decisions.monitor import Monitor
from abnet.predictors.predictor import Predictor

__all__ = ["WatchOutcome", "watch_model"]

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
    """
    for path in (state, *([picture] if picture else [])):
        check_writable(path)
    watched = hashlib.sha256(model.read_bytes()).hexdigest()
    predictor, rows = judge_model_file(model, table, truth=truth)
    monitor = _opened(state, predictor, watched, error, alpha)
    wrong: Any = rows.judged().wrong if rows.truth else []
    before = {"n": monitor.n, "errors": monitor.errors}
    monitor.update(wrong, unlabelled=rows.unlabelled)
    if picture is not None:
        from abnet.decisions.pictures import evidence_figure, save_picture

        save_picture(evidence_figure(wrong, monitor.error, monitor.alpha, **before), picture)
    monitor.save(state)
    notices = [notice for notice in rows.notices if "no label" not in notice]
    if rows.unlabelled:
        notices.append(f"{rows.unlabelled:,} of {rows.unlabelled + len(rows.truth):,} rows have no label: not counted")
    return WatchOutcome(monitor, len(rows.truth), int(sum(wrong)), rows.unlabelled, tuple(notices))


def _opened(state: Path, predictor: Predictor, watched: str, error: float | None, alpha: float | None) -> Monitor:
    if not state.exists():
        return Monitor(_promised(predictor, error), _ALPHA if alpha is None else alpha, watched=watched)
    monitor = Monitor.load(state)
    if monitor.watched not in (None, watched):
        raise UsageError(f"{state} belongs to another model: a new model needs a state of its own, with its own alpha.")
    for name, asked, kept in (("--error", error, monitor.error), ("--alpha", alpha, monitor.alpha)):
        if asked is not None and asked != kept:
            raise UsageError(f"{name} is {kept:g} in {state}, and cannot be changed to {asked:g} after rows were seen.")
    return monitor


def _promised(predictor: Predictor, error: float | None) -> float:
    if error is not None:
        return error
    certificate = predictor.certificate_
    bound = certificate.vote_error_bound if isinstance(certificate, Certificate) else None
    if bound is None or bound >= 1.0:
        raise UsageError("the model has no certificate whose promise could be watched: name an error with --error.")
    return bound
