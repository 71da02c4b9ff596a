"""Stages of long work in words, told to whoever watches: a bar of the command line, or a function of yours."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Watcher", "is_watched", "tell", "watched"]

Watcher = Callable[[str, float | None], None]
"""Takes the stage in words, and the share of it that is done (None while it is not known)."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("abnet_watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a function about the stages of what is done in a block.

    Examples
    --------
    >>> with watched(lambda stage, share: print(stage, share)):
    ...     tell("Reading the table")
    ...     tell("Reading the table", 0.5)
    Reading the table None
    Reading the table 0.5
    >>> tell("Nobody hears this")
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell(stage: str, share: float | None = None) -> None:
    """Say which stage the work is in, and how much of that stage is done."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, share)


def is_watched() -> bool:
    """Whether anybody watches."""
    return _WATCHER.get() is not None
