"""A progress bar for each stage of training."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from abnet.utils.progress import is_watched, report_progress

__all__ = ["Report", "training_bar"]

Report = Callable[[str, int, int, float], None]
"""Called with the name of the stage, the number of steps done, their total number, and the best value so far."""


@contextmanager
def training_bar(verbose: int) -> Iterator[Report | None]:
    """A `Report` that draws one bar per stage on stderr, or None if no progress is shown.

    Parameters
    ----------
    verbose : int
        0 is silent, and so is any value if stderr is not a terminal. If a caller has registered a progress callback
        (`abnet.utils.progress.watched`), stages are reported to it instead.
    """
    if is_watched():
        yield lambda stage, done, total, value: report_progress(stage.capitalize(), done / max(total, 1))
        return
    if not verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best {task.fields[value]}"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int, value: float) -> None:
            if stage not in tasks:
                for task in bar.tasks:  # a stage may stop early
                    bar.update(task.id, completed=task.total)
                tasks[stage] = bar.add_task(stage, total=total, value="")
            bar.update(tasks[stage], completed=done, value=f"{value:.4f}")

        yield report
