"""Training rows cannot certify a model: they raise an error, or give an estimate."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.statement import Estimate
from abnet.model.model import FittedClassifier, Model
from abnet.tables.caller_rows import take_rows
from abnet.tables.labels import signs_of, with_unknown
from abnet.utils.errors import Parameter, TrainingRowsError
from abnet.utils.wording import number_of

__all__ = ["estimate_error", "filter_of", "find_fitted", "label_marks", "refuse_fitted"]


def estimate_error(wrong: ArrayLike, seen: FittedRows | None) -> Estimate:
    """The error rate on rows that may be training rows, as an `Estimate`.

    Examples
    --------
    >>> print(estimate_error([True] * 2 + [False] * 98, None))
    Estimated error rate: 2%. This is not a certificate: 2 errors on 100 rows, and
    the model file does not record its training rows.
    """
    rows = np.asarray(wrong)
    errors, found = int(rows.sum()), None if seen is None else seen.found
    known = "and the model file does not record its training rows."
    if found is not None:
        known = (
            f"of which {found:,} have the same values and label as rows that the model was trained on. A model "
            "usually errs less on those than on new ones."
        )
    counted = f"{number_of(errors, 'error')} on {number_of(len(rows), 'row')}"
    return Estimate(
        quantity="error", of="predict", value=errors / len(rows), why=f"This is not a certificate: {counted}, {known}",
        counted={"errors": errors, "n": len(rows), "n_training_rows": found},
    )  # fmt: skip


def label_marks(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Labels in the form that a filter of rows stores: signs for two classes, codes for several.

    Examples
    --------
    >>> label_marks(np.array([0, 1, -1]), 2), label_marks(np.array([0, 2, -1]), 3)
    (array([-1.,  1.,  3.]), array([0., 2., 3.]))
    """
    known = with_unknown(codes, n_classes)[0]
    return signs_of(known) if n_classes == 2 else known.astype(np.float64)


def filter_of(model: Model) -> FittedRows | None:
    """The filter of a model's training rows; None if it stores none."""
    kept = model.card.row_filter
    return None if kept is None else FittedRows(kept)


def find_fitted(model: Any, X: Any, y: ArrayLike) -> FittedRows | None:
    """Look for training rows of a model; None if it is not an abnet model, or stores no filter.

    Also finds the model inside a search or a pipeline.
    """
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            X, model = model[:-1].transform(X) if len(model.steps) > 1 else X, model.steps[-1][1]
    fitted = model.model_ if isinstance(model, FittedClassifier) else model
    if not isinstance(fitted, Model) or (seen := filter_of(fitted)) is None:
        return None
    checked = model._checked if hasattr(model, "_checked") else lambda rows: rows
    marks = label_marks(fitted.labels.encode(np.asarray(y)), fitted.labels.n_classes)
    _add_readable(seen, lambda rows: fitted.prepare(checked(rows)), X, marks)
    return seen


def _add_readable(seen: FittedRows, prepare: Callable[[Any], Any], X: Any, marks: NDArray[np.float64]) -> None:
    """Look up all rows that can be read; an unreadable row is not a training row, and the others are still checked."""
    try:
        seen.add(prepare(X), marks)
    except ValueError:
        if len(marks) < 2:
            return
        half = len(marks) // 2
        for part in (np.arange(half), np.arange(half, len(marks))):
            _add_readable(seen, prepare, take_rows(X, part), marks[part])


def refuse_fitted(seen: FittedRows | None, *, instead: str = "{} gives an estimate instead.") -> None:
    """Raise a TrainingRowsError if more of the rows are training rows than chance explains."""
    if seen is not None and seen.reused:
        why = f"by chance there would be at most {seen.allowed:,}"
        if seen.found <= seen.allowed:
            why = "together they are the rows of its fit"
        raise TrainingRowsError(
            "{} of {} rows have the same values and label as rows that the model was trained on ({}): "
            f"a certificate needs rows that were held out from training. {instead}",
            f"{seen.found:,}", f"{seen.n_rows:,}", why, Parameter("allow_training_rows", True),
        )  # fmt: skip
