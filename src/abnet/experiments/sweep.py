"""Running a grid: claim, train, store, on as many processes or machines as there are."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from abnet.experiments.backends import Backend, GroupTrainer, Task, TaskOutcome, on_cluster, on_this_machine
from abnet.experiments.progress import SweepProgress, expected_cost
from abnet.experiments.protocol import key
from abnet.experiments.setting import SettingGroup
from abnet.experiments.store import Claim, RunStore

__all__ = ["SweepReport", "sweep"]


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
