"""Where the groups of a sweep are trained: in processes of this machine (joblib), or on a Dask cluster.

Every group gives one `Attempt`, in the order in which they finish. A group that fails does not stop the others.
"""

import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from abnet.paper.runs.run_result import Result
from abnet.paper.runs.setting_groups import SettingGroup

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Attempt", "attempt_group", "train_on_cluster", "train_on_this_machine"]


@dataclass(frozen=True)
class Attempt:
    """A group with its results, or with the error that ended it."""

    group: SettingGroup
    results: Sequence[Result] = ()
    error: str | None = None


_Attempting: TypeAlias = Callable[[SettingGroup], Attempt]


def attempt_group(train: Callable[..., list[Result]], data_dir: str | None, group: SettingGroup) -> Attempt:
    """Train a group; return its results, or the error."""
    try:
        return Attempt(group, train(group, data_dir=data_dir))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        return Attempt(group, error=f"{type(error).__name__}: {error} ({place})")


# This machine


def train_on_this_machine(
    attempt: _Attempting, groups: Sequence[SettingGroup], jobs: int
) -> Generator[Attempt, None, None]:
    """Train groups in `jobs` processes.

    A group that kills its process (out of memory, say) breaks joblib's whole pool. The groups that were under way then
    run again, each alone, so that only the one to blame fails.
    """
    waiting = deque(groups)
    under_way: set[SettingGroup] = set()

    def next_groups() -> Iterator[SettingGroup]:
        while waiting:
            group = waiting.popleft()
            under_way.add(group)
            yield group

    while waiting:
        try:
            for attempted in _in_pool(attempt, next_groups(), jobs):
                under_way.remove(attempted.group)
                yield attempted
        except BrokenProcessPool:
            suspects = list(under_way)
            under_way.clear()
            for group in suspects:
                yield _alone(attempt, group)


def _alone(attempt: _Attempting, group: SettingGroup) -> Attempt:
    """Train a group in a process of its own."""
    try:
        return next(_in_pool(attempt, [group], 2))  # 2, because a pool of 1 is this very process
    except BrokenProcessPool:
        return Attempt(group, error="the process that trained it was killed, twice; out of memory?")


def _in_pool(attempt: _Attempting, groups: Iterable[SettingGroup], jobs: int) -> Iterator[Attempt]:
    from joblib import Parallel, cpu_count, delayed, effective_n_jobs

    threads = max(1, cpu_count() // effective_n_jobs(jobs))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    attempts: Iterator[Attempt] = parallel(delayed(_in_process)(os.getpid(), threads, attempt, g) for g in groups)
    return attempts


def _in_process(sweep_process: int, threads: int, attempt: _Attempting, group: SettingGroup) -> Attempt:
    if os.getpid() != sweep_process:
        # A terminal sends Ctrl-C to workers too, but the sweep ends them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # XLA's threads, before JAX starts: steps are too short to split, and the cores have a process each.
        os.environ.setdefault("PJRT_NPROC", str(threads))
    return attempt(group)


# A cluster


def train_on_cluster(
    attempt: _Attempting, groups: Sequence[SettingGroup], client: "Client"
) -> Generator[Attempt, None, None]:
    """Train groups on a Dask cluster; a group that kills worker after worker fails.

    joblib's Dask backend is not used, because it never reports a task that was killed, and waits forever.
    """
    from distributed import as_completed

    under_way: dict[Future, SettingGroup] = {client.submit(attempt, group, pure=False): group for group in groups}
    try:
        for future in as_completed(list(under_way), loop=client.loop):
            group = under_way.pop(future)
            if future.status == "cancelled":
                raise ConnectionError("the connection to the Dask scheduler was lost")
            error = future.exception()
            if error is None:
                yield future.result()
            else:
                yield Attempt(group, error=f"{type(error).__name__}: {error}")
    finally:
        client.cancel(list(under_way))
