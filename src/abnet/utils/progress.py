"""Progress of long functions.

A long function reports its stage with `report_progress`. `watched` registers a callback for the reports, and
`stage_bars` shows them as bars on a terminal.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["ProgressCallback", "Watcher", "is_watched", "part_of_progress", "stage_bars", "report_progress", "watched"]

ProgressCallback = Callable[[float], None]
"""Callback with the share of the work that is done, between 0 and 1."""

Watcher = Callable[[str, float | None], None]
"""Callback with the name of the stage and the fraction that is done (None if unknown)."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("abnet_watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Register a callback for the progress reports of a block.

    Examples
    --------
    >>> with watched(lambda stage, share: print(stage, share)):
    ...     report_progress("Reading the table")
    ...     report_progress("Reading the table", 0.5)
    Reading the table None
    Reading the table 0.5
    >>> report_progress("Without a callback, nothing happens")
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def report_progress(stage: str, share: float | None = None) -> None:
    """Report the current stage, and the fraction of it that is done."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, share)


def is_watched() -> bool:
    """Whether a callback is registered."""
    return _WATCHER.get() is not None


def part_of_progress(progress: ProgressCallback | None, start: float, share: float) -> ProgressCallback | None:
    """The callback for one part of the work, which begins at `start` and takes a `share` of the whole.

    Examples
    --------
    >>> report_second_half = part_of_progress(print, 0.5, 0.5)
    >>> report_second_half(0.2)
    0.6
    """
    if progress is None:
        return None

    def report_part(done: float) -> None:
        progress(start + share * done)

    return report_part


@contextmanager
def stage_bars(description: str, *, hidden: bool = False) -> Iterator[Callable[[float], None] | None]:
    """Show the reports of a block as progress bars on stderr.

    Each stage has its own bar. If the block calls the returned function with the fraction of the whole that is done,
    there is one bar, named after the current stage. A bar is full when its stage, or the block, has ended.

    Parameters
    ----------
    description : str
        Name of the bar before the first report.
    hidden : bool
        Whether to show nothing.

    Yields
    ------
    callable or None
        None if nothing is shown: with `hidden`, or if stderr is not a terminal.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars = _StageBars(progress, description)
        with watched(bars.show_stage):
            yield bars.show_whole
        bars.fill()


class _StageBars:
    """One bar for each stage, or one for all if the fraction of the whole is known."""

    def __init__(self, progress: Any, description: str) -> None:
        self._progress = progress
        self._stage = description
        self._is_of_whole = False
        self._task = progress.add_task(description, total=None)

    def show_whole(self, share: float) -> None:
        """Show the fraction of the whole that is done."""
        self._is_of_whole = True
        self._progress.update(self._task, completed=share, total=1.0)

    def show_stage(self, stage: str, share: float | None) -> None:
        """Show the current stage, and the fraction of it that is done."""
        is_new = stage != self._stage
        self._stage = stage
        if self._is_of_whole:
            self._progress.update(self._task, description=stage)
            return
        if is_new:
            self.fill()
            self._task = self._progress.add_task(stage, total=None)
        if share is not None:
            self._progress.update(self._task, completed=share, total=1.0)

    def fill(self) -> None:
        """Fill the current bar."""
        self._progress.update(self._task, completed=1.0, total=1.0)
