"""Fitting once more: nothing of the fit before is left."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sklearn.base import BaseEstimator

__all__ = ["fitting_anew"]


@contextmanager
def fitting_anew(estimator: BaseEstimator, keep: Sequence[str] = ()) -> Iterator[None]:
    """Forget what was fitted before and, if the new fit fails, what it has set: no mixture of two fits is left.

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
