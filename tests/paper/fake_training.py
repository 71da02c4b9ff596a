"""Trainers that only pretend: importable by name from worker processes, which find this folder on their path."""

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from abnet.paper import Result, RunStore, Setting, sweep
from abnet.paper.runs import sweeping
from abnet.paper.runs.setting_groups import SettingGroup


def fingerprint(name: str, data_dir: str | None) -> str:
    """In place of the sweep's, which would load the data."""
    return "f"


def result_of(setting: Setting) -> Result:
    """A result that only its setting determines."""
    rate = setting.learning_rate or 1.0
    return Result(
        setting,
        train_error=rate / 4,
        test_error=rate / 3,
        map_test_error=rate / 2,
        epochs=30,
        best_epoch=setting.repetition + 1,
        seconds=0.5,
        bound=rate,
        kl=2.0,
        C=1.5,
        validation_error=rate,
        curve={"bound": [1.0, rate]},
        fingerprint="f",
    )


def settings(repetitions: int) -> list[Setting]:
    """Settings of as many groups as repetitions, 8 runs each."""
    rates = (0.1, 0.01, 0.001, 0.0001)
    models = ("PBGNet", "ABNet")
    return [Setting("circles", m, (2,), rate, k) for k in range(repetitions) for m in models for rate in rates]


def train(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    return [result_of(setting) for setting in group.settings]


def train_all_but_wide_bc(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    if group.models == ("BC",) and group.settings[0].architecture == "wide":
        raise RuntimeError("not today")
    return train(group, data_dir=data_dir)


def train_or_fail(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    if group.repetition == 1:
        raise FloatingPointError("the loss is not a number")
    return train(group, data_dir=data_dir)


def train_or_die(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Kill the own process on one of the groups, as running out of memory does."""
    if group.repetition == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return train(group, data_dir=data_dir)


def train_through_ctrl_c(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Get the signal that a terminal sends to every process of the sweep."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    return train(group, data_dir=data_dir)


def train_and_tell(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Leave a file named after the process, and another one for the group; from the ninth group on, take for ever."""
    assert data_dir is not None
    (Path(data_dir) / f"process {os.getpid()}").touch()
    (Path(data_dir) / f"group {group.repetition}").touch()
    if group.repetition >= 8:
        time.sleep(600)
    return train(group, data_dir=data_dir)


def sweep_in_process(path: str, data_dir: str, jobs: int) -> None:
    """A sweep that does not end by itself, for a process of its own."""

    class Telling(RunStore):
        """Leaves a file for each group that it has stored."""

        def add(self, results: Iterable[Result]) -> int:
            results = list(results)
            new = super().add(results)
            (Path(data_dir) / f"stored {results[0].setting.repetition}").touch()
            return new

    sweeping._fingerprint = fingerprint
    with Telling(path) as store:
        sweep(settings(20), store, train=train_and_tell, jobs=jobs, data_dir=data_dir)
