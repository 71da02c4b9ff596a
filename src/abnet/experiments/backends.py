"""Where tasks run: processes of this machine (joblib), or a Dask cluster.

A backend takes an iterator of tasks, which it asks for one when it has room for it, and yields their outcomes as they
come. Only the caller touches the run store, so that the machines of a cluster need not share a file system.
"""

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from abnet.experiments.owners import describe_machine
from abnet.experiments.result import Result
from abnet.experiments.setting import SettingGroup

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Backend", "TaskOutcome", "GroupTrainer", "Task", "on_cluster", "on_this_machine", "perform"]


class GroupTrainer(Protocol):
    """The trainer of a group, as `abnet.experiments.run_group.run_group`."""

    def __call__(self, group: SettingGroup, *, data_dir: str | None) -> list[Result]:
        """Train the settings of the group and return their results."""
        ...


@dataclass(frozen=True)
class Task:
    """A group to train; `number` tells the tasks of a sweep apart."""

    number: int
    group: SettingGroup
    run_group: GroupTrainer
    data_dir: str | None = None


@dataclass(frozen=True)
class TaskOutcome:
    """The results of a task, or the error that ended it, and the machine that did it (None if that is unknown)."""

    number: int
    results: list[Result] | None
    error: str | None
    machine: Mapping[str, str | int] | None


Backend: TypeAlias = Callable[[Iterator[Task]], Iterator[TaskOutcome]]


def on_this_machine(jobs: int = 1) -> Backend:
    """Run tasks in `jobs` processes of this machine (-1: one for each core), or in this process if it is one.

    A task that kills its process (out of memory, say) breaks joblib's whole pool. The tasks that were under way then
    run again, each alone in a pool, so that the one to blame is found and fails, and the others finish.
    """

    def run(tasks: Iterator[Task]) -> Iterator[TaskOutcome]:
        feed = _Feed(tasks)
        while True:
            try:
                for outcome in _pool(jobs, iter(feed)):
                    del feed.under_way[outcome.number]
                    yield outcome
                return
            except BrokenProcessPool:
                suspects = list(feed.under_way.values())
                feed.under_way.clear()
            for task in suspects:
                yield _alone(task)

    return run


def on_cluster(address: str, *, timeout: float = 30.0) -> Backend:
    """Run tasks on the Dask cluster whose scheduler is at `address`, such as "tcp://10.0.0.1:8786".

    The tasks of a worker that dies run again on the others; a task that has killed several workers, the last of them
    while it ran alone, fails. Workers may come and go during the sweep. They need abnet and the data files, not the run
    store.

    Notes
    -----
    Tasks go to the scheduler directly and not through joblib's Dask backend: that one passes on a task's result but not
    its death (`KilledWorker`), and waits for it for ever.
    """

    def run(tasks: Iterator[Task]) -> Iterator[TaskOutcome]:
        client = _client(address, timeout)
        try:
            yield from _through(client, tasks)
        finally:
            client.close()

    return run


def perform(task: Task) -> TaskOutcome:
    """Train a group; an error is an outcome too, so that the rest of the sweep goes on."""
    try:
        results = task.run_group(task.group, data_dir=task.data_dir)
    except Exception as error:
        return TaskOutcome(task.number, None, _described(error), describe_machine())
    return TaskOutcome(task.number, results, None, describe_machine())


def _described(error: Exception) -> str:
    """Kind, message and innermost place, without folders: the store is shared, the paths of a machine are not."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


class _Feed:
    """Hands out tasks, from any thread, and remembers those under way."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self._tasks = tasks
        self._lock = threading.Lock()  # joblib asks from its callback thread
        self.under_way: dict[int, Task] = {}

    def __iter__(self) -> Iterator[Task]:
        while True:
            with self._lock:
                task = next(self._tasks, None)
                if task is None:
                    return
                self.under_way[task.number] = task
            yield task


def _pool(jobs: int, tasks: Iterator[Task]) -> Iterator[TaskOutcome]:
    from joblib import Parallel, cpu_count, delayed, effective_n_jobs

    threads = max(1, cpu_count() // effective_n_jobs(jobs))
    # One task at a time and few ahead: a claimed group that waits in a queue is lost to other sweeps.
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    calls = (delayed(_perform_below)(os.getpid(), threads, task) for task in tasks)
    with _without_interrupts():  # the workers start here, and inherit that
        outcomes: Iterator[TaskOutcome] = parallel(calls)
    return outcomes


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from the processes that this thread starts, and from the thread meanwhile.

    A terminal sends it to the workers too. The driver ends them: on their own they would say only where they were.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _perform_below(driver: int, threads: int, task: Task) -> TaskOutcome:
    if os.getpid() != driver:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a worker that joblib started later
        _end_with(driver)
        _use_threads(threads)
    return perform(task)


@cache
def _use_threads(count: int) -> None:
    """Give XLA this worker's share of the cores; to be called before JAX starts.

    Steps are too short to split: a process for each core trains nearly twice as much as one process on two cores.
    """
    os.environ.setdefault("PJRT_NPROC", str(count))


@cache
def _end_with(driver: int) -> None:
    """Let this worker process end when its driver is killed: nobody waits for its result, and it would train on."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="abnet-watch", daemon=True).start()


def _alone(task: Task) -> TaskOutcome:
    try:
        return next(_pool(2, iter([task])))  # 2, as a pool of 1 is this very process
    except BrokenProcessPool as error:
        reason = f"the process that trained it was killed, twice; out of memory? ({type(error).__name__})"
        return TaskOutcome(task.number, None, reason, None)


def _client(address: str, timeout: float) -> "Client":
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a sweep on a cluster needs Dask: pip install 'abnet[dask]'") from error
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address}; start one with `dask scheduler`") from error
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        client.close()
        raise ConnectionError(
            f"the Dask cluster at {address} has no worker; start some: `dask worker {address}`"
        ) from error
    return client


def _through(client: "Client", tasks: Iterator[Task]) -> Iterator[TaskOutcome]:
    """Outcomes of tasks that run side by side, then of those that lost worker after worker, each alone.

    The scheduler blames every task that a dead worker had been given, and not only the one that it was at.
    """
    suspects: list[Task] = []
    for task, future in _side_by_side(client, tasks):
        if future.status == "error":
            suspects.append(task)
        else:
            yield _gathered(future, task)
    for suspect in suspects:
        for task, future in _side_by_side(client, iter([suspect])):
            yield _gathered(future, task)


def _side_by_side(client: "Client", tasks: Iterator[Task]) -> "Iterator[tuple[Task, Future]]":
    from distributed import as_completed

    under_way: dict[Future, Task] = {}
    completed = as_completed(loop=client.loop)

    def fill() -> None:
        # Two tasks for each thread, so that no worker waits for the driver; asked anew, as workers come and go.
        while len(under_way) < 2 * max(1, sum(client.ncores().values())):
            task = next(tasks, None)
            if task is None:
                return
            future = client.submit(perform, task, pure=False)
            under_way[future] = task
            completed.add(future)

    try:
        fill()
        while under_way:
            future = next(completed)
            task = under_way.pop(future)
            fill()
            yield task, future
    finally:
        if under_way:
            client.cancel(list(under_way))


def _gathered(future: "Future", task: Task) -> TaskOutcome:
    if future.status == "cancelled":
        raise ConnectionError("the connection to the Dask scheduler was lost")
    error: Any = future.exception()
    if error is not None:  # not an error of training, which `perform` turns into an outcome: the worker's death
        return TaskOutcome(task.number, None, f"{type(error).__name__}: {error}", None)
    outcome: TaskOutcome = future.result()
    return outcome
