"""Fitting once more: nothing of the fit before is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["fitting_anew"]


@contextmanager
def fitting_anew(estimator: Any) -> Iterator[None]:
    """Forget what was fitted before and, if the new fit fails, what it has set: no mixture of two fits is left."""
    _forget(estimator)
    try:
        yield
    except BaseException:
        _forget(estimator)
        raise


def _forget(estimator: Any) -> None:
    """Remove the fitted attributes: those whose names end with an underscore."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)
