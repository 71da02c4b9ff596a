"""A progress bar for each stage of training."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from abnet.progress import is_watched, tell

__all__ = ["Report", "training_bar"]

Report = Callable[[str, int, int, float], None]
"""Called with a stage's name, the steps done and of all, and the best value so far."""


@contextmanager
def training_bar(verbose: int) -> Iterator[Report | None]:
    """A `Report` that draws one bar per stage on stderr, or None when nobody watches.

    Parameters
    ----------
    verbose : int
        0 is silent; so is any value when stderr is not a terminal. Stages are told to whoever watches already
        (`abnet.progress.watched`) instead.
    """
    if is_watched():
        yield lambda stage, done, total, value: tell(stage.capitalize(), done / max(total, 1))
        return
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

        def report(stage: str, done: int, total: int, value: float) -> None:
            if stage not in tasks:
                for task in bar.tasks:  # a stage may stop early
                    bar.update(task.id, completed=task.total)
                tasks[stage] = bar.add_task(stage, total=total, value="")
            bar.update(tasks[stage], completed=done, value=f"{value:.4f}")

        yield report
