"""A progress bar on stderr, for people who watch; silent otherwise."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["training_bar"]


@contextmanager
def training_bar(verbose: int, max_epochs: int) -> Iterator[Any]:
    """A callback ``(stage, epoch, value)`` that draws one bar per stage, or None when nobody watches.

    Parameters
    ----------
    verbose : int
        0 is silent; so is any value when stderr is not a terminal.
    max_epochs : int
        Length of a full bar.
    """
    if not verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("best {task.fields[value]}"), TimeElapsedColumn(),
    ]  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, epoch: int, value: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=max_epochs, value="")
            bar.update(tasks[stage], completed=epoch, value=f"{value:.4f}")

        yield report
