"""Progress reports: long functions report their stage to a callback, such as the progress bar of the command line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Watcher", "is_watched", "tell", "watched"]

Watcher = Callable[[str, float | None], None]
"""Callback with the name of the stage and the fraction that is done (None if unknown)."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("abnet_watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Register a callback for the progress reports of a block.

    Examples
    --------
    >>> with watched(lambda stage, share: print(stage, share)):
    ...     tell("Reading the table")
    ...     tell("Reading the table", 0.5)
    Reading the table None
    Reading the table 0.5
    >>> tell("Without a callback, nothing happens")
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell(stage: str, share: float | None = None) -> None:
    """Report the current stage, and the fraction of it that is done."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, share)


def is_watched() -> bool:
    """Whether a callback is registered."""
    return _WATCHER.get() is not None
