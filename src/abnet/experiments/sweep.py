"""Running a grid: claim, train, store, on as many processes or machines as there are; how far it is."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from abnet.experiments.backends import Backend, GroupTrainer, Task, TaskOutcome, on_cluster, on_this_machine
from abnet.experiments.protocol import NUMERICS_VERSION, key
from abnet.experiments.selection import current_results
from abnet.experiments.setting import Setting, SettingGroup
from abnet.experiments.store import Claim, RunStore

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from abnet.experiments.setting import SettingGroup

__all__ = ["Progress", "SweepProgress", "SweepReport", "expected_cost", "status", "status_table", "sweep"]


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


@dataclass(frozen=True)
class Progress:
    """Runs of a cell: those done, those that failed when last tried, and all."""

    done: int
    failed: int
    total: int


def status(store: RunStore, settings: Iterable[Setting]) -> dict[tuple[str, str, int], Progress]:
    """Return the progress of a grid by data set, model and width, in the order of the grid.

    Runs of another protocol or version of the numerics do not count.

    Examples
    --------
    >>> from abnet.experiments import table1_grid
    >>> with RunStore(":memory:") as store:
    ...     status(store, table1_grid())["ads", "ABNet", 2]
    Progress(done=0, failed=0, total=60)
    """
    done = {result.setting for result in current_results(store.runs())}
    failures = store.runs(status="failed")
    failed = {run.setting for run in failures if run.numerics_version == NUMERICS_VERSION} - done
    cells: dict[tuple[str, str, int], list[Setting]] = {}
    for s in settings:
        cells.setdefault((s.dataset, s.model, s.width), []).append(s)
    return {
        cell: Progress(len(done.intersection(members)), len(failed.intersection(members)), len(members))
        for cell, members in cells.items()
    }


def status_table(progress: dict[tuple[str, str, int], Progress]) -> "Table":
    """Return the progress as a rich table: a row for each data set and model, a column for each width."""
    from rich.table import Table

    widths = sorted({width for _, _, width in progress})
    rows = dict.fromkeys((dataset, model) for dataset, model, _ in progress)
    table = Table(title="Runs done", header_style="bold")
    for name in ("data set", "model", *(f"width {width}" for width in widths), "all"):
        table.add_column(name, justify="left" if name in ("data set", "model") else "right")
    for dataset, model in rows:
        cells = [progress.get((dataset, model, width)) for width in widths]
        table.add_row(dataset, model.replace("_l", "ℓ"), *map(_shown, cells), _shown(_sum(cells)))
    table.add_section()
    by_width = [_sum(of for (_, _, w), of in progress.items() if w == width) for width in widths]
    table.add_row("all", "", *map(_shown, by_width), _shown(_sum(by_width)))
    return table


def _sum(cells: Iterable[Progress | None]) -> Progress:
    present = [cell for cell in cells if cell is not None]
    return Progress(sum(c.done for c in present), sum(c.failed for c in present), sum(c.total for c in present))


def _shown(cell: Progress | None) -> str:
    if cell is None:
        return ""
    text = f"{cell.done}/{cell.total}" + (f" ({cell.failed} failed)" if cell.failed else "")
    return f"[green]{text}[/green]" if cell.done == cell.total else text


@dataclass(frozen=True)
class SweepReport:
    """What a sweep did, in runs.

    Attributes
    ----------
    done, failed
        Runs trained and stored now, and runs whose group failed.
    skipped
        Runs that were in the store already, or that another sweep has claimed.
    interrupted
        Whether it was stopped from the keyboard.
    """

    done: int = 0
    failed: int = 0
    skipped: int = 0
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 if all went well, 1 if a group failed, 130 if the sweep was interrupted."""
        return 130 if self.interrupted else int(self.failed > 0)


def sweep(
    groups: Iterable[SettingGroup],
    store: RunStore,
    *,
    run_group: GroupTrainer | None = None,
    fingerprint_of: Callable[[str], str] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    quiet: bool = False,
) -> SweepReport:
    """Train the groups that are not in the store yet, in order, and store their results.

    The results come back to this process, the only one that writes. It can be stopped at any moment, and the same call
    continues; several sweeps can share a store. A group that fails is stored with its error, and tried again next time.

    Parameters
    ----------
    groups
        From `groups_of`.
    store
        Where the runs go.
    run_group
        The trainer, `abnet.experiments.run_group.run_group` by default; it must be importable where it runs.
    fingerprint_of
        From the name of a data set to its fingerprint; by default the data is loaded from `data_dir`.
    jobs
        Processes on this machine; -1 for one on each core.
    cluster
        Address of the scheduler of a Dask cluster to use in place of this machine.
    data_dir
        Folder of the data files, on each machine.
    quiet
        Whether to show no progress.

    Returns
    -------
    SweepReport
        Its `exit_code` is for the command line.
    """
    groups = list(groups)
    directory = None if data_dir is None else os.fspath(data_dir)
    fingerprint_of = fingerprint_of or _fingerprints(directory)
    fingerprints = {name: fingerprint_of(name) for name in dict.fromkeys(group.dataset for group in groups)}
    open_groups = _unfinished(groups, store, fingerprints)
    todo, everything = (sum(len(g.settings) for g in gs) for gs in (open_groups, groups))
    driver = _Driver(store, fingerprints, run_group or _default_trainer(), directory)
    backend = on_this_machine(jobs) if cluster is None else on_cluster(cluster)
    cost = sum(expected_cost(group) for group in open_groups)
    with nullcontext() if quiet else SweepProgress(todo, cost) as progress, store.heartbeat():
        report = driver.drive(open_groups, backend, progress)
    report = replace(report, skipped=everything - report.done - report.failed)
    if report.interrupted:
        print(f"stopped: {report.done} runs stored in {store.path}; the same command continues", file=sys.stderr)
        report = replace(report, skipped=everything - todo)
    return report


class _Driver:
    """Claims groups for a backend and stores what comes back."""

    def __init__(
        self, store: RunStore, fingerprints: dict[str, str], run_group: GroupTrainer, data_dir: str | None
    ) -> None:
        self._store, self._fingerprints = store, fingerprints
        self._run_group, self._data_dir = run_group, data_dir
        self._claims: dict[int, Claim] = {}

    def drive(self, groups: list[SettingGroup], backend: Backend, progress: SweepProgress | None) -> SweepReport:
        report = SweepReport()
        try:
            with closing(backend(self._tasks(groups))) as outcomes:  # type: ignore[type-var]
                for outcome in outcomes:
                    group = self._claims[outcome.number].group
                    error = self._settle(outcome)
                    if error is None:
                        report = replace(report, done=report.done + len(group.settings))
                    else:
                        report = replace(report, failed=report.failed + len(group.settings))
                    if progress is not None:
                        progress.advance(group, "done" if error is None else f"failed, {error}")
        except KeyboardInterrupt:
            report = replace(report, interrupted=True)
        finally:
            for claim in self._claims.values():
                self._store.release(claim)
        return report

    def _tasks(self, groups: list[SettingGroup]) -> Iterator[Task]:
        """Claim one group after the other, when the backend has room for it."""
        for number, group in enumerate(groups):
            claim = self._store.claim(group, fingerprint=self._fingerprints[group.dataset])
            if claim is not None:
                self._claims[number] = claim
                yield Task(number, claim.group, self._run_group, self._data_dir)

    def _settle(self, outcome: TaskOutcome) -> str | None:
        """Store an outcome; return the error, if it is one."""
        claim, error = self._claims[outcome.number], outcome.error
        if outcome.results is not None:
            try:
                self._store.record(claim, outcome.results, machine=outcome.machine)
            except ValueError as mismatch:
                error = str(mismatch)
        if error is not None:
            self._store.record_failure(claim, error, machine=outcome.machine)
        del self._claims[outcome.number]
        return error


def _unfinished(groups: list[SettingGroup], store: RunStore, fingerprints: dict[str, str]) -> list[SettingGroup]:
    """The groups, each without its finished settings; for the total of the progress bar, the claims decide."""
    keyed = {s: key(s, fingerprints[s.dataset]) for group in groups for s in group.settings}
    finished = store.finished(list(keyed.values()))
    rest = (group.only(s for s in group.settings if keyed[s] not in finished) for group in groups)
    return [group for group in rest if group is not None]


def _default_trainer() -> GroupTrainer:
    from abnet.experiments.run_group import run_group

    return run_group


def _fingerprints(data_dir: str | None) -> Callable[[str], str]:
    from abnet import data

    def fingerprint_of(name: str) -> str:
        dataset = data.load(name, data_dir=data_dir)
        return data.fingerprint(dataset.X, dataset.y)

    return fingerprint_of
