"""A group as a task for another process: what goes there, what comes back."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from abnet.experiments.machine import describe_machine
from abnet.experiments.result import Result
from abnet.experiments.setting import Group

__all__ = ["Outcome", "RunGroup", "Task", "perform"]


class RunGroup(Protocol):
    """The trainer of a group, as `abnet.experiments.training.run_group`."""

    def __call__(
        self, group: Group, *, data_dir: str | None, progress: Callable[[str], None] | None = None
    ) -> list[Result]:
        """Train the settings of the group and return their results."""
        ...


@dataclass(frozen=True)
class Task:
    """A group to train; `number` tells the tasks of a sweep apart."""

    number: int
    group: Group
    run_group: RunGroup
    data_dir: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The results of a task, or the error that ended it, and the machine that did it (None if that is unknown)."""

    number: int
    results: list[Result] | None
    error: str | None
    machine: Mapping[str, str | int] | None


def perform(task: Task) -> Outcome:
    """Train a group; an error is an outcome too, so that the rest of the sweep goes on."""
    try:
        results = task.run_group(task.group, data_dir=task.data_dir)
    except Exception as error:
        return Outcome(task.number, None, _described(error), describe_machine())
    return Outcome(task.number, results, None, describe_machine())


def _described(error: Exception) -> str:
    """Kind, message and innermost place, without folders: the store is shared, the paths of a machine are not."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
