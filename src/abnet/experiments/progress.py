"""The live progress of a sweep on standard error: a bar with the time left, or plain lines in a log."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console

    from abnet.experiments.setting import SettingGroup

__all__ = ["SweepProgress", "expected_cost"]

_EXAMPLES = {"ads": 3_279, "adult": 48_842, "mnist17": 15_170, "mnist49": 13_782, "mnist56": 13_189, "mnistLH": 70_000}


def expected_cost(group: "SettingGroup") -> float:
    """Return a rough relative cost of training a group, so that the time left is not judged by the cheap half.

    Layers times units, with a constant share for the passes over the inputs; a data set counts by its minibatches. A
    trial counts by its epochs.
    """
    from abnet.experiments.protocol import protocol_of

    first = group.settings[0]
    protocol = protocol_of(first)
    minibatches = _EXAMPLES.get(group.dataset, 10_000) / protocol.batch_size * protocol.max_epochs / 100
    return minibatches * (20 + sum(group.hidden_layer_sizes)) * len(group.settings)


class SweepProgress:
    """Shows how far a sweep is.

    Parameters
    ----------
    runs, cost
        Runs to do, and their total expected cost.
    console
        Where to show it; standard error by default. If that is no terminal, each finished group is one line.
    clock
        Seconds that only grow.

    Examples
    --------
    >>> import io
    >>> from rich.console import Console
    >>> from abnet.experiments.setting import SettingGroup, Setting
    >>> group = SettingGroup((Setting("ads", "EBP", (2,), None, 0),))
    >>> out = io.StringIO()
    >>> with SweepProgress(4, 4 * expected_cost(group), console=Console(file=out)) as progress:
    ...     progress.advance(group, "done")
    >>> out.getvalue().startswith("[1/4] ads 2 EBP #0: done;")
    True
    """

    def __init__(
        self,
        runs: int,
        cost: float,
        *,
        console: "Console | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich import progress
        from rich.console import Console

        self._console = console or Console(stderr=True, soft_wrap=True)
        self._clock = clock
        self._runs, self._cost = runs, cost
        self._done, self._spent, self._start = 0, 0.0, clock()
        self._bar = progress.Progress(
            progress.TextColumn("{task.fields[runs]}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[left]} left"),
            progress.TextColumn("{task.description}"),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("", total=cost, runs=f"0/{runs} runs", left="?")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def advance(self, group: "SettingGroup", note: str) -> None:
        """Count a group as finished (or failed), and say so."""
        self._done += len(group.settings)
        self._spent += expected_cost(group)
        left = self.time_left()
        self._bar.update(
            self._task,
            completed=self._spent,
            description=group.name,
            runs=f"{self._done}/{self._runs} runs",
            left=left,
        )
        if not self._console.is_terminal or note != "done":
            line = f"[{self._done}/{self._runs}] {group.name}: {note}; {left} left"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def time_left(self) -> str:
        """Return the expected time to the end, as hours, minutes and seconds."""
        rest = max(self._cost - self._spent, 0.0)
        seconds = (self._clock() - self._start) * rest / self._spent if self._spent else 0.0
        return str(timedelta(seconds=round(seconds)))
