"""Refitting: remove everything of an earlier fit."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

__all__ = ["fresh_fit"]


@contextmanager
def fresh_fit(estimator: BaseEstimator) -> Iterator[None]:
    """Remove the fitted attributes before a fit, and again if it fails, so that two fits are never mixed."""
    _remove_fitted_attributes(estimator)
    try:
        yield
    except BaseException:
        _remove_fitted_attributes(estimator)
        raise


def _remove_fitted_attributes(estimator: BaseEstimator) -> None:
    """Remove the attributes whose names end with an underscore."""
    for name in list(vars(estimator)):
        if name.endswith("_") and not name.startswith("_"):
            delattr(estimator, name)
