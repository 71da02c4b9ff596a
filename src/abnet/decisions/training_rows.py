"""Rows that a model learned from certify nothing: they are refused, or give an estimate that is called one."""

import os
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.certificate_file import read_record, write_record
from abnet.bounds.wording import InNotebooks, filled, percent
from abnet.certificates.fitted_rows import FittedRows
from abnet.checks import exactly, optional, tally
from abnet.errors import Parameter, TrainingRowsError
from abnet.labels import signs_of, with_unknown
from abnet.model.model import Model
from abnet.words import number_of

__all__ = ["ErrorEstimate", "estimate_error", "filter_of", "find_fitted", "label_marks", "refuse_fitted"]


@dataclass(frozen=True)
class ErrorEstimate(InNotebooks):
    """Errors of a model on rows that it may have learned from: an estimate, which promises nothing about new data.

    Attributes
    ----------
    errors, n_rows : int
        Rows that are answered wrongly, and all rows.
    n_training_rows : int or None
        Rows with the values and the label of rows that the model learned from; None where the model does not tell.

    Examples
    --------
    >>> estimate = ErrorEstimate(2, 100, 100)
    >>> estimate.error_estimate
    0.02
    >>> print(estimate)
    An estimate, not a certificate: 2 errors on 100 rows (2 %). 100 of these rows have the values and
    the label of rows that the model learned from, and a model errs less on them than on new ones.
    Nothing is promised about new data.
    """

    errors: int
    n_rows: int
    n_training_rows: int | None

    def __post_init__(self) -> None:
        fitted = optional(tally)("n_training_rows", self.n_training_rows) or 0
        if not 0 < tally("n_rows", self.n_rows) >= max(tally("errors", self.errors), fitted):
            raise ValueError("not an estimate: the counts contradict each other.")

    @property
    def error_estimate(self) -> float:
        """Share of the rows that are answered wrongly."""
        return self.errors / self.n_rows

    def describe(self) -> str:
        """Say in plain English what was seen, and that it is no promise."""
        seen = f"{number_of(self.errors, 'error')} on {number_of(self.n_rows, 'row')} ({percent(self.error_estimate)})"
        known = "The model does not tell which rows it learned from."
        if self.n_training_rows is not None:
            known = (
                f"{self.n_training_rows:,} of these rows have the values and the label of rows that the model learned "
                "from, and a model errs less on them than on new ones."
            )
        return filled(f"An estimate, not a certificate: {seen}. {known} Nothing is promised about new data.")

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, fit for JSON; ``error_estimate`` is among them."""
        return {"error_estimate": self.error_estimate, **asdict(self)}

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """Read what `to_dict` wrote; anything else is a ValueError."""
        values = exactly(cls.__name__, record, ["error_estimate", *cls.__dataclass_fields__])
        share = values.pop("error_estimate")
        made = cls(**values)
        if share != made.error_estimate:
            raise ValueError("not an estimate: error_estimate does not follow from the counts.")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file, as an estimate: `load_certificate` refuses it, `abnet inspect` shows it."""
        write_record(path, "errors", self.to_dict(), what="estimate")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        return cls.from_dict(read_record(path, what="estimate")[1])


def estimate_error(wrong: ArrayLike, seen: FittedRows | None) -> ErrorEstimate:
    """The estimate for rows of which some are answered wrongly."""
    rows = np.asarray(wrong)
    return ErrorEstimate(int(rows.sum()), len(rows), None if seen is None else seen.found)


def label_marks(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Labels as a filter of rows takes them: signs of two classes, codes of several, one more for any other label.

    Examples
    --------
    >>> label_marks(np.array([0, 1, -1]), 2), label_marks(np.array([0, 2, -1]), 3)
    (array([-1.,  1.,  3.]), array([0., 2., 3.]))
    """
    known = with_unknown(codes, n_classes)[0]
    return signs_of(known) if n_classes == 2 else known.astype(np.float64)


def filter_of(model: Model) -> FittedRows | None:
    """The filter of the rows that a model learned from; None where it keeps none."""
    kept = model.card.row_filter
    return None if kept is None else FittedRows(kept)


def find_fitted(model: Any, X: Any, y: ArrayLike) -> FittedRows | None:
    """Look for the rows that a model learned from; None where it is not one of ours, or keeps no filter.

    Searches and pipelines are looked into.
    """
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            X, model = model[:-1].transform(X) if len(model.steps) > 1 else X, model.steps[-1][1]
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, Model) or (seen := filter_of(fitted)) is None:
        return None
    try:
        rows = fitted.prepare(model._check_rows(X) if hasattr(model, "_check_rows") else X)
    except ValueError:  # rows that it cannot read are no rows of its fit
        return None
    labels = fitted.labels
    seen.add(rows, label_marks(labels.encode(np.asarray(y)), labels.n_classes))
    return seen


def refuse_fitted(seen: FittedRows | None, *, instead: str = "{} gives an estimate instead.") -> None:
    """TrainingRowsError if more rows were learned from than chance explains."""
    if seen is not None and seen.reused:
        why = f"by chance there would be at most {seen.allowed:,}"
        if seen.found <= seen.allowed:
            why = "together they are the rows of its fit"
        raise TrainingRowsError(
            "{} of {} rows have the values and the label of rows that the model learned from ({}): "
            f"a certificate needs rows that had no part in learning. {instead}",
            f"{seen.found:,}", f"{seen.n_rows:,}", why, Parameter("allow_training_rows", True),
        )  # fmt: skip
