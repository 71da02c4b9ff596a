"""Refitting: remove everything of an earlier fit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sklearn.base import BaseEstimator

__all__ = ["fitting_anew"]


@contextmanager
def fitting_anew(estimator: BaseEstimator, keep: Sequence[str] = ()) -> Iterator[None]:
    """Remove the fitted attributes before a fit, and again if it fails, so that two fits are never mixed.

    Parameters
    ----------
    estimator : BaseEstimator
    keep : sequence of str
        Fitted attributes to keep.
    """
    _forget(estimator, keep)
    try:
        yield
    except BaseException:
        _forget(estimator)
        raise


def _forget(estimator: BaseEstimator, keep: Sequence[str] = ()) -> None:
    """Remove the fitted attributes: those whose names end with an underscore."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        if name not in keep:
            delattr(estimator, name)
