"""Checks of rows and of the parameter `preprocessor` before rows are prepared; messages say what to do."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns import far_cells
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["check_preprocessor", "check_size", "has_far_cells", "hint_at_scales", "with_advice"]

_PREPROCESSORS = (
    "None, 'standardise', or an unfitted transformer with fit and transform, such as a StandardScaler for "
    "numbers or an abnet.tables.preparation.TablePreparation for mixed frames (CertifiedClassifier and "
    "ABNetClassifier also take 'auto' and 'table')"
)
_UNSCALED = 1000.0
"""Ratio of deviations from which columns count as unscaled."""
_SAMPLED_ROWS = 2000


_LARGEST = 1e150
"""Larger numbers have no finite square, and cannot be scaled."""


def check_size(X: NDArray[Any]) -> NDArray[Any]:
    """The rows, if none of their numbers is too large to be scaled.

    Examples
    --------
    >>> check_size(np.array([[1.0, 1e200]]))
    Traceback (most recent call last):
    ValueError: column 1 holds 1e+200, and numbers of 1e+150 and above cannot be scaled: divide the column by ...
    """
    most = np.maximum(X.max(axis=0), -X.min(axis=0))  # without a copy of the rows
    if X.dtype == np.float64 and (most >= _LARGEST).any():
        column = int(np.nanargmax(most))
        raise ValueError(
            f"column {column} holds {most[column]:.3g}, and numbers of {_LARGEST:g} and above cannot be scaled: divide "
            "the column by a constant, or correct its cells."
        )
    return X


def has_far_cells(X: NDArray[Any]) -> bool:
    """Whether a column has cells far from all others (`far_cells`); of many rows, by 2,000 and the extremes.

    Examples
    --------
    >>> has_far_cells(np.array([[1.0], [2.0], [4.0]])), has_far_cells(np.array([[1.0], [2.0], [4.0], [3.0], [1e10]]))
    (False, True)
    """
    rows = X
    step = len(X) // _SAMPLED_ROWS
    if step > 1:
        rows = np.vstack([X[::step], X.min(axis=0), X.max(axis=0)])
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers too large to be scaled, which `check_size` refuses
        return any(far_cells(column).any() for column in rows.T.astype(np.float64))


def with_advice(error: ValueError, preprocessor: Any) -> ValueError:
    """Add advice to an error about an array: missing values and text are prepared if X is a frame.

    Examples
    --------
    >>> print(with_advice(ValueError("Input X contains NaN."), "auto"))
    Input X contains NaN. Give X as a frame (pandas or Polars): text and missing cells are then prepared.
    """
    text = str(error)
    if not (isinstance(preprocessor, str) and preprocessor == "auto"):
        return error
    if ("Input X" in text and "NaN" in text) or "could not convert string" in text:
        first = text.splitlines()[0].rstrip(".")
        return ValueError(f"{first}. Give X as a frame (pandas or Polars): text and missing cells are then prepared.")
    return error


def check_preprocessor(preprocessor: Any) -> None:
    """Raise a ParameterError for an invalid preprocessor; the message lists the valid ones.

    Examples
    --------
    >>> check_preprocessor("standardise")
    >>> check_preprocessor("minmax")
    Traceback (most recent call last):
    abnet.utils.errors.ParameterError: preprocessor must be None, 'standardise', or ...; got 'minmax'.
    """
    if isinstance(preprocessor, str):
        valid = preprocessor == "standardise"
    else:
        methods = [getattr(preprocessor, name, None) for name in ("fit", "transform")]
        valid = not isinstance(preprocessor, type) and all(map(callable, methods))
    if not valid:
        raise ParameterError("{} must be {}; got {!r}.", Parameter("preprocessor"), _PREPROCESSORS, preprocessor)


def hint_at_scales(X: NDArray[Any]) -> None:
    """Warn if the scales of the columns differ a lot: a network divides all inputs by the norm of the row.

    The test uses the ratio of the 90% quantile to the 10% quantile of the deviations of non-constant columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hint_at_scales(rng.normal(size=(50, 4)))
    """
    step = max(len(X) // _SAMPLED_ROWS, 1)
    deviations = np.asarray(X[::step], np.float64).std(axis=0)
    deviations = deviations[deviations > 0]
    if len(deviations) < 2:
        return
    low, high = np.quantile(deviations, (0.1, 0.9))
    if high > _UNSCALED * low:
        warnings.warn(
            f"The inputs have very different scales (standard deviations from {low:.2g} to {high:.2g}), so the "
            "largest dominate: scale them, for instance with preprocessor='standardise'.",
            stacklevel=6,
        )
