"""What the rows of a fit, or of a later certificate, allow: refusals of a certificate, and warnings."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.row_filter import count_seen
from abnet.decisions.row_by_row import check_row_by_row, fits_anew

__all__ = ["allows_certificate", "warn_of_fitted_rows"]


def allows_certificate(preprocessor: Any, transform: Callable[[Any], Any], X: Any) -> bool:
    """Whether a preprocessor leaves a certificate; a warning says why it does not.

    It must be fitted anew on the first part of the rows, and map each row by itself. Otherwise what was certified is
    not what `predict` does, and there is an estimate instead of a certificate.

    Parameters
    ----------
    preprocessor : transformer, str or None
        As it was given.
    transform : callable
        The fitted map from raw rows to inputs of the network.
    X : array, sparse matrix or frame
        Raw rows.

    Examples
    --------
    >>> allows_certificate(None, np.asarray, np.eye(3))
    True
    """
    if preprocessor is None or isinstance(preprocessor, str):  # a map of our own
        return True
    reason = fits_anew(preprocessor) or check_row_by_row(transform, X)
    if reason:
        warnings.warn(
            f"There is no certificate, only an estimate: the preprocessor does not allow one, because {reason}. It has "
            "to be fitted anew on the first part of the rows, and to map each row by itself.",
            stacklevel=3,
        )
    return reason is None


def _recurring(prepared: Any, y: NDArray[Any]) -> int:
    """How many rows are like one before them, label included."""
    rows = np.asarray(prepared.toarray() if hasattr(prepared, "toarray") else prepared, np.float32)
    return len(y) - len({row.tobytes() + label.tobytes() for row, label in zip(rows, np.asarray(y), strict=True)})


def warn_of_fitted_rows(text: str | None, prepared: Any, y: NDArray[Any]) -> int:
    """Warn if rows that a model is to be certified on are those that it was fitted on; how many they are.

    Parameters
    ----------
    text : str or None
        The model's filter (`abnet.data.row_filter`); None where there is none, and nothing can be told.
    prepared : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Their labels, as they were put into the filter.

    Examples
    --------
    >>> warn_of_fitted_rows(None, np.eye(3), np.ones(3))
    0
    """
    seen = count_seen(text, prepared, y) if text else 0
    # A filter is mistaken about once in two thousand rows; where rows have few values, they recur by chance.
    if seen > max(1, len(y) // 500) and seen > 2 * _recurring(prepared, y):
        warnings.warn(
            f"{seen:,} of {len(y):,} rows have the values and the label of rows that the model was fitted on. A test "
            "set is rows that had no part in learning: if these are the same rows, the certificate is void. (Among few "
            "distinct rows some are equal by chance, which does no harm.)",
            stacklevel=3,
        )
    return seen
