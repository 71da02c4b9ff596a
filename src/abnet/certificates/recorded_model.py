"""`RecordedModel`: a model that records the rows it was fitted on, as the models of this library do."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import ismethod
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.fitted_rows import RowFilter

__all__ = ["FitRecord", "InnerModel", "RecordedModel", "inner_model"]


class FitRecord(Protocol):
    """What a model stores about the rows of its fit."""

    @property
    def row_filter(self) -> RowFilter | None:
        """Recognises the rows; None if they were not stored."""
        ...

    @property
    def n_training_groups(self) -> int | None:
        """Number of groups; None or 0 for single rows."""
        ...

    @property
    def group(self) -> str | None:
        """Column with the groups, if it is known."""
        ...


class ClassCodes(Protocol):
    """The labels that a model knows."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        ...

    def encode(self, y: ArrayLike, /) -> NDArray[np.intp]:
        """The code of each label; -1 for any other label."""
        ...


@runtime_checkable
class RecordedModel(Protocol):
    """A model that records the rows it was fitted on; `abnet.Model` is one."""

    @property
    def card(self) -> FitRecord:
        """How the model was made."""
        ...

    @property
    def labels(self) -> ClassCodes:
        """The labels that it knows."""
        ...

    @property
    def digest(self) -> str | None:
        """A name that changes with every part that predicts."""
        ...

    def prepare(self, X: Any, /) -> Any:
        """Rows in the form in which the filter of its record stores them."""
        ...


@dataclass(frozen=True)
class InnerModel:
    """A recorded model inside wrappers, and the rows as they reach it.

    Attributes
    ----------
    model : RecordedModel
    rows : rows in any form
    check : callable
        Checks rows, as the classifier around the model does before it predicts.
    """

    model: RecordedModel
    rows: Any
    check: Callable[[Any], Any]


def inner_model(model: Any, X: Any) -> InnerModel | None:
    """The recorded model that answers; None for a model of another library.

    Looks inside methods such as ``clf.predict``, searches, models with a tuned threshold, frozen ones, and pipelines.

    Examples
    --------
    >>> inner_model(len, [1, 2]) is None
    True
    """
    while (wrapped := _wrapped(model)) is not None:
        if hasattr(model, "steps") and len(model.steps) > 1:
            X = model[:-1].transform(X)
        model = wrapped
    recorded = getattr(model, "model_", model)
    if not isinstance(recorded, RecordedModel):
        return None
    return InnerModel(recorded, X, getattr(model, "_checked", _unchecked))


def _wrapped(model: Any) -> Any:
    """What a wrapper answers with; None if it is no wrapper."""
    if ismethod(model):
        return model.__self__
    if isinstance(model, partial):
        return model.func
    if hasattr(model, "steps"):
        return model.steps[-1][1]
    if type(model).__name__ == "FrozenEstimator":
        return model.estimator
    return getattr(model, "best_estimator_", getattr(model, "estimator_", None))


def _unchecked(rows: Any) -> Any:
    return rows
