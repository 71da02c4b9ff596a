"""Train the runs of a grid that a store lacks, in processes of this machine (joblib) or on a Dask cluster.

This process sends out groups and collects the results; only it uses the store.
"""

import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from abnet.paper.protocol import protocol_of
from abnet.paper.run_key import key
from abnet.paper.run_result import Result
from abnet.paper.run_setting import Setting
from abnet.paper.run_store import RunStore
from abnet.paper.setting_groups import SettingGroup, groups_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["SweepReport", "sweep"]

Outcome: TypeAlias = tuple[SettingGroup, list[Result] | str]
"""A group with its results, or with the error that ended it."""


@dataclass
class SweepReport:
    """Report of a sweep.

    Attributes
    ----------
    done, skipped
        Runs trained and stored now, and runs that were in the store already.
    failures
        The error of each group that failed, by the name of the group; the next sweep tries it again.
    """

    done: int = 0
    skipped: int = 0
    failures: dict[str, str] = field(default_factory=dict)


def sweep(
    settings: Iterable[Setting],
    store: RunStore,
    *,
    jobs: int = 1,
    client: "Client | None" = None,
    data_dir: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    train: Callable[..., list[Result]] | None = None,
) -> SweepReport:
    """Train the settings that are not in the store yet, and store their results group by group.

    It can be stopped at any time, and the same call continues: only the groups in progress are lost. A group that fails
    does not stop the others.

    Parameters
    ----------
    settings
        A grid, or a part of one.
    store
        Where the runs go.
    jobs
        Processes on this machine; -1 for one on each core, 1 for this process.
    client
        Dask client to train on its cluster instead. The workers need abnet and the data files, not the store.
    data_dir
        Folder of the data files, on each machine.
    verbose
        Whether to show progress on standard error.
    train
        The trainer of a group, `abnet.paper.group_training.run_group` by default.
    """
    if train is None:
        from abnet.paper.group_training import run_group

        train = run_group
    folder = None if data_dir is None else os.fspath(data_dir)
    wanted = list(dict.fromkeys(settings))
    prints = {name: _fingerprint(name, folder) for name in dict.fromkeys(s.dataset for s in wanted)}
    there = store.keys()
    groups = groups_of(s for s in wanted if key(s, prints[s.dataset]) not in there)
    report = SweepReport(skipped=len(wanted) - sum(len(group.settings) for group in groups))
    attempt = partial(_attempt, train, folder)
    outcomes = _on_this_machine(attempt, groups, jobs) if client is None else _on_cluster(attempt, groups, client)
    with closing(outcomes), _Progress(groups, verbose) as progress:
        for group, outcome in outcomes:
            error = outcome if isinstance(outcome, str) else _mismatch(group, outcome, prints[group.dataset])
            if isinstance(outcome, str) or error is not None:
                report.failures[group.name] = str(error)
            else:
                report.done += store.add(outcome)
            progress.advance(group, "done" if error is None else f"failed, {error}")
    return report


def _fingerprint(name: str, data_dir: str | None) -> str:
    from abnet.certificates.fingerprint import fingerprint
    from abnet.paper.datasets import load

    dataset = load(name, data_dir=data_dir)
    return fingerprint(dataset.X, dataset.y)


def _mismatch(group: SettingGroup, results: Sequence[Result], fingerprint: str) -> str | None:
    """Description of a mismatch between the results of a group and its settings or data, if any."""
    if [result.setting for result in results] != list(group.settings):
        return f"{len(results)} results that are not those of its {len(group.settings)} settings"
    if {result.fingerprint for result in results} != {fingerprint}:
        return "trained on other data than this process has; give all machines the same data files"
    return None


def _attempt(train: Callable[..., list[Result]], data_dir: str | None, group: SettingGroup) -> Outcome:
    """Train a group; return its results, or the error."""
    try:
        return group, train(group, data_dir=data_dir)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        return group, f"{type(error).__name__}: {error} ({where})"


# Where groups are trained


def _on_this_machine(
    attempt: Callable[[SettingGroup], Outcome], groups: Sequence[SettingGroup], jobs: int
) -> Generator[Outcome, None, None]:
    """Outcomes of groups trained in `jobs` processes, as they come.

    A group that kills its process (out of memory, say) breaks joblib's whole pool. The groups that were under way then
    run again, each alone, so that only the one to blame fails.
    """
    waiting, under_way = deque(groups), set()

    def feed() -> Iterator[SettingGroup]:
        while waiting:
            group = waiting.popleft()
            under_way.add(group)
            yield group

    while waiting:
        try:
            for group, outcome in _pool(attempt, feed(), jobs):
                under_way.remove(group)
                yield group, outcome
        except BrokenProcessPool:
            suspects = list(under_way)
            under_way.clear()
            for group in suspects:
                yield _alone(attempt, group)


def _alone(attempt: Callable[[SettingGroup], Outcome], group: SettingGroup) -> Outcome:
    try:
        return next(_pool(attempt, [group], 2))  # 2, as a pool of 1 is this very process
    except BrokenProcessPool:
        return group, "the process that trained it was killed, twice; out of memory?"


def _pool(attempt: Callable[[SettingGroup], Outcome], groups: Iterable[SettingGroup], jobs: int) -> Iterator[Outcome]:
    from joblib import Parallel, cpu_count, delayed, effective_n_jobs

    threads = max(1, cpu_count() // effective_n_jobs(jobs))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    outcomes: Iterator[Outcome] = parallel(delayed(_in_process)(os.getpid(), threads, attempt, g) for g in groups)
    return outcomes


def _in_process(driver: int, threads: int, attempt: Callable[[SettingGroup], Outcome], group: SettingGroup) -> Outcome:
    if os.getpid() != driver:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to workers too; the driver ends them
        # XLA's threads, before JAX starts: steps are too short to split, and the cores have a process each.
        os.environ.setdefault("PJRT_NPROC", str(threads))
    return attempt(group)


def _on_cluster(
    attempt: Callable[[SettingGroup], Outcome], groups: Sequence[SettingGroup], client: "Client"
) -> Generator[Outcome, None, None]:
    """Outcomes of groups trained on a cluster, as they come; a group that kills worker after worker fails.

    joblib's Dask backend is not used, because it never reports a task that was killed, and waits forever.
    """
    from distributed import as_completed

    under_way: dict[Any, SettingGroup] = {client.submit(attempt, group, pure=False): group for group in groups}
    try:
        for future in as_completed(list(under_way), loop=client.loop):
            group = under_way.pop(future)
            if future.status == "cancelled":
                raise ConnectionError("the connection to the Dask scheduler was lost")
            error = future.exception()
            yield future.result() if error is None else (group, f"{type(error).__name__}: {error}")
    finally:
        client.cancel(list(under_way))


# Progress

_EXAMPLES = {"ads": 3_279, "adult": 48_842, "mnist17": 15_170, "mnist49": 13_782, "mnist56": 13_189, "mnistLH": 70_000}


def _expected_cost(group: SettingGroup) -> float:
    """A rough relative cost from minibatches, layers and units, for the estimate of the remaining time."""
    protocol = protocol_of(group.settings[0])
    minibatches = _EXAMPLES.get(group.dataset, 10_000) / protocol.batch_size * protocol.max_epochs / 100
    return minibatches * (20 + sum(group.hidden_layer_sizes)) * len(group.settings)


class _Progress:
    """A bar on standard error; if that is no terminal, a line for each group."""

    def __init__(self, groups: Sequence[SettingGroup], verbose: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._runs, self._cost = sum(len(g.settings) for g in groups), sum(map(_expected_cost, groups))
        self._done, self._spent, self._start = 0, 0.0, time.monotonic()
        self._console = Console(stderr=True, soft_wrap=True, quiet=not verbose)
        columns = BarColumn(), TaskProgressColumn(), TextColumn("{task.description}")
        hidden = not (verbose and self._console.is_terminal)
        self._bar = Progress(*columns, console=self._console, disable=hidden, transient=True)
        self._task = self._bar.add_task(f"0/{self._runs} runs", total=self._cost)

    def __enter__(self) -> "_Progress":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def advance(self, group: SettingGroup, note: str) -> None:
        self._done += len(group.settings)
        self._spent += _expected_cost(group)
        seconds = (time.monotonic() - self._start) * (self._cost - self._spent) / self._spent
        left = f"{timedelta(seconds=round(max(seconds, 0.0)))} left"
        text = f"{self._done}/{self._runs} runs, {left}, {group.name}"
        self._bar.update(self._task, completed=self._spent, description=text)
        if not self._console.is_terminal or note != "done":
            line = f"[{self._done}/{self._runs}] {group.name}: {note}; {left}"
            self._console.print(line, markup=False, highlight=False)
