"""Trainers that only pretend: importable by name from worker processes, which find this folder on their path."""

import os
import signal
import sys
import time
from pathlib import Path

from abnet.experiments import Result, RunStore, Setting, SettingGroup, groups_of, sweep
from abnet.experiments.backends import GroupTrainer


def fingerprint_of(name: str) -> str:
    return f"fingerprint of {name}"


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
    )


def train(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    return [result_of(setting) for setting in group.settings]


def train_all_but_wide_bc(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    if group.models == ("BC",) and group.settings[0].architecture == "wide":
        raise RuntimeError("not today")
    return train(group, data_dir=data_dir)


def train_and_tell(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Leave a file for each training, with the process in it, and take a while."""
    assert data_dir is not None
    mark = Path(data_dir) / f"{group.name} {time.monotonic_ns()}"
    mark.write_text(str(os.getpid()))
    time.sleep(0.15)
    return train(group, data_dir=data_dir)


def train_side_by_side(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Leave a file for each training, with the process in it; none ends before two processes have begun one."""
    assert data_dir is not None
    mark = Path(data_dir) / f"{group.name} {time.monotonic_ns()}"
    mark.write_text(str(os.getpid()))
    for _ in range(3000):
        if len({mark.read_text() for mark in Path(data_dir).iterdir()}) == 2:
            return train(group, data_dir=data_dir)
        time.sleep(0.005)
    sys.exit("no other process has begun a group")


def train_or_hang(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Hang on one of the groups the first time, until someone kills the process; the mark says which to kill."""
    assert data_dir is not None
    mark = Path(data_dir) / str(os.getpid())
    if group.repetition == 6 and not list(Path(data_dir).iterdir()):
        mark.touch()
        time.sleep(60)
    return train(group, data_dir=data_dir)


def meet(folder: str, count: int) -> None:
    """Wait until so many processes are here, so that they start together."""
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < count:
        time.sleep(0.005)


def train_or_fail(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    if group.repetition == 1:
        raise FloatingPointError("the loss is not a number")
    return train(group, data_dir=data_dir)


def train_through_ctrl_c(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Get the signal that a terminal sends to every process of the sweep."""
    os.kill(os.getpid(), signal.SIGINT)
    return train(group, data_dir=data_dir)


def train_or_die(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Kill the own process on one of the groups, as running out of memory does."""
    if group.repetition == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return train(group, data_dir=data_dir)


def train_other_data(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    return [Result(s, 0.1, 0.1, 0.1, 1, 1, 0.1, fingerprint="other data") for s in group.settings]


def groups(repetitions: int, *, dataset: str = "ads") -> list[SettingGroup]:
    """Groups of 8 runs each."""
    rates = (0.1, 0.01, 0.001, 0.0001)
    models = ("PBGNet", "ABNet")
    return groups_of(Setting(dataset, m, (2,), rate, k) for k in range(repetitions) for m in models for rate in rates)


def sweep_in_process(
    path: str, data_dir: str, repetitions: int, *, jobs: int = 1, run_group: GroupTrainer = train_and_tell
) -> int:
    """A whole sweep, for a process of its own."""
    with RunStore(path) as store:
        report = sweep(
            groups(repetitions),
            store,
            run_group=run_group,
            fingerprint_of=fingerprint_of,
            jobs=jobs,
            data_dir=data_dir,
        )
    return report.exit_code
