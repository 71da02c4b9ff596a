"""A progress bar on stderr, for people who watch a terminal; silent otherwise."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["file_bar"]


@contextmanager
def file_bar(description: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """A callback that takes the share done, between 0 and 1, or None when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=1.0)
        yield lambda share: bar.update(task, completed=share)
