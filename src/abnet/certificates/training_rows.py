"""Rows that a model was fitted on cannot certify it: they raise an error, or give an estimate.

These are its training rows, and the bound rows if they were used to choose among models or to find a decision.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.estimate import Estimate
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.recorded_model import RecordedModel, inner_model
from abnet.utils.caller_rows import take_rows
from abnet.utils.errors import Parameter, TrainingRowsError
from abnet.utils.label_values import label_values
from abnet.utils.wording import number_of

__all__ = ["estimate_error", "filter_of", "find_fitted", "refuse_fitted"]


def estimate_error(wrong: ArrayLike, seen: FittedRows | None) -> Estimate:
    """The error rate on rows that may be training rows, as an `Estimate`.

    Examples
    --------
    >>> print(estimate_error([True] * 2 + [False] * 98, None))
    Estimated error rate: 2%. This is not a certificate: 2 errors on 100 rows, and
    the model file does not record its training rows.
    """
    errors = int(np.count_nonzero(wrong))
    n = len(np.asarray(wrong))
    n_found = None
    known = "and the model file does not record its training rows."
    if seen is not None:
        n_found = seen.found
        known = (
            f"of which {n_found:,} have the same values and label as rows that the model was fitted on. A model "
            "usually errs less on those than on new ones."
        )
    return Estimate(
        quantity="error rate",
        value=errors / n,
        why=f"This is not a certificate: {number_of(errors, 'error')} on {number_of(n, 'row')}, {known}",
        counted={"errors": errors, "n": n, "n_training_rows": n_found},
    )


def filter_of(model: RecordedModel) -> FittedRows | None:
    """The filter of a model's training rows; None if it stores none."""
    stored = model.card.row_filter
    if stored is None:
        return None
    return FittedRows(stored)


def find_fitted(model: Any, X: Any, y: ArrayLike) -> FittedRows | None:
    """Look for rows that an abnet model was fitted on; None if it is of another library, or stores no filter."""
    inner = inner_model(model, X)
    if inner is None:
        return None
    seen = filter_of(inner.model)
    if seen is None:
        return None
    labels = y
    if not hasattr(y, "dtype"):
        labels = _object_column(y)
    known = inner.model.labels
    values = label_values(known.encode(np.asarray(labels)), known.n_classes)
    _add_readable(seen, lambda rows: inner.model.prepare(inner.check(rows)), inner.rows, values)
    return seen


def _object_column(labels: Any) -> NDArray[Any]:
    """A list of labels without a common type: one text among numbers would turn all of them into text."""
    column = np.empty(len(labels), object)
    column[:] = labels
    return column


def _add_readable(seen: FittedRows, prepare: Callable[[Any], Any], X: Any, labels: NDArray[np.float64]) -> None:
    """Look up all rows that can be read; an unreadable row is not a training row, and the others are still checked."""
    try:
        seen.add(prepare(X), labels)
    except ValueError:
        n = len(labels)
        if n < 2:
            return
        for half in (np.arange(n // 2), np.arange(n // 2, n)):
            _add_readable(seen, prepare, take_rows(X, half), labels[half])


def refuse_fitted(seen: FittedRows | None, *, instead: str = "{} gives an estimate instead.") -> None:
    """Raise a TrainingRowsError if the model was fitted on more of the rows than chance explains."""
    if seen is None or not seen.reused:
        return
    why = f"by chance there would be at most {seen.allowed:,}"
    if seen.found <= seen.allowed:
        why = "together they are the rows of its fit"
    raise TrainingRowsError(
        "{} of {} rows have the same values and label as rows that the model was fitted on ({}): a certificate "
        "needs rows that took no part in training the model, in choosing it, or in finding its threshold. "
        f"{instead}",
        f"{seen.found:,}",
        f"{seen.n_rows:,}",
        why,
        Parameter("allow_training_rows", True),
    )
