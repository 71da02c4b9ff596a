"""Progress of a sweep: a bar on standard error, or a line for each group."""

import time
from collections.abc import Sequence
from datetime import timedelta

from abnet.paper.protocol import protocol_of
from abnet.paper.runs.setting_groups import SettingGroup

__all__ = ["SweepProgress", "expected_cost"]

_N_EXAMPLES = {
    "ads": 3_279,
    "adult": 48_842,
    "mnist17": 15_170,
    "mnist49": 13_782,
    "mnist56": 13_189,
    "mnistLH": 70_000,
}
_N_EXAMPLES_ELSEWHERE = 10_000


def expected_cost(group: SettingGroup) -> float:
    """Return a rough relative cost from minibatches, layers and units, for the estimate of the remaining time."""
    protocol = protocol_of(group.settings[0])
    n_examples = _N_EXAMPLES.get(group.dataset, _N_EXAMPLES_ELSEWHERE)
    minibatches = n_examples / protocol.batch_size * protocol.max_epochs / 100
    return minibatches * (20 + sum(group.hidden_layer_sizes)) * len(group.settings)


class SweepProgress:
    """A bar on standard error; if that is no terminal, a line for each group.

    Parameters
    ----------
    groups : sequence of SettingGroup
        All groups of the sweep.
    verbose : bool
        Whether to show anything.
    """

    def __init__(self, groups: Sequence[SettingGroup], verbose: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._n_runs = sum(len(group.settings) for group in groups)
        self._n_finished = 0
        self._total_cost = sum(expected_cost(group) for group in groups)
        self._finished_cost = 0.0
        self._start = time.monotonic()
        self._console = Console(stderr=True, soft_wrap=True, quiet=not verbose)
        self._bar = Progress(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            disable=not (verbose and self._console.is_terminal),
            transient=True,
        )
        self._task = self._bar.add_task(f"0/{self._n_runs} runs", total=self._total_cost)

    def __enter__(self) -> "SweepProgress":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def advance(self, group: SettingGroup, error: str | None) -> None:
        """Count a group as finished, with its error if it failed.

        Errors are printed above the bar; groups that went well are printed only if there is no bar.
        """
        self._n_finished += len(group.settings)
        self._finished_cost += expected_cost(group)
        count = f"{self._n_finished}/{self._n_runs}"
        left = f"{self._remaining_time()} left"
        self._bar.update(self._task, completed=self._finished_cost, description=f"{count} runs, {left}, {group.name}")
        if error is not None:
            self._print(f"[{count}] {group.name}: failed, {error}; {left}")
        elif not self._console.is_terminal:
            self._print(f"[{count}] {group.name}: done; {left}")

    def _remaining_time(self) -> timedelta:
        elapsed = time.monotonic() - self._start
        seconds = elapsed * (self._total_cost - self._finished_cost) / self._finished_cost
        return timedelta(seconds=round(max(seconds, 0.0)))

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False)
