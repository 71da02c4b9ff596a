"""A sweep: train the runs of a grid that a store lacks, on this machine or on a Dask cluster, and store them.

This process sends out groups and collects the results; only it uses the store.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from abnet.paper.runs.group_dispatch import attempt_group, train_on_cluster, train_on_this_machine
from abnet.paper.runs.run_key import key
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting
from abnet.paper.runs.run_store import RunStore
from abnet.paper.runs.setting_groups import SettingGroup, groups_of
from abnet.paper.runs.sweep_progress import SweepProgress

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["SweepReport", "sweep"]


@dataclass
class SweepReport:
    """Report of a sweep.

    Attributes
    ----------
    done, skipped
        Runs trained and stored now, and runs that were in the store before.
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
        The trainer of a group, `abnet.paper.runs.group_training.run_group` by default.
    """
    if train is None:
        from abnet.paper.runs.group_training import run_group

        train = run_group
    if data_dir is not None:
        data_dir = os.fspath(data_dir)
    wanted = list(dict.fromkeys(settings))
    fingerprints = {dataset: _fingerprint(dataset, data_dir) for dataset in dict.fromkeys(s.dataset for s in wanted)}
    stored = store.keys()
    missing = [setting for setting in wanted if key(setting, fingerprints[setting.dataset]) not in stored]
    groups = groups_of(missing)
    attempt = partial(attempt_group, train, data_dir)
    if client is None:
        attempts = train_on_this_machine(attempt, groups, jobs)
    else:
        attempts = train_on_cluster(attempt, groups, client)
    report = SweepReport(skipped=len(wanted) - len(missing))
    with closing(attempts), SweepProgress(groups, verbose) as progress:
        for attempted in attempts:
            group = attempted.group
            error = attempted.error or _mismatch(group, attempted.results, fingerprints[group.dataset])
            if error is None:
                report.done += store.add(attempted.results)
            else:
                report.failures[group.name] = error
            progress.advance(group, error)
    return report


def _fingerprint(name: str, data_dir: str | None) -> str:
    from abnet.paper.data.data_fingerprint import data_fingerprint
    from abnet.paper.data.datasets import load

    dataset = load(name, data_dir=data_dir)
    return data_fingerprint(dataset.X, dataset.y)


def _mismatch(group: SettingGroup, results: Sequence[Result], fingerprint: str) -> str | None:
    """Description of a mismatch between the results of a group and its settings or data, if any."""
    if [result.setting for result in results] != list(group.settings):
        return f"{len(results)} results that are not those of its {len(group.settings)} settings"
    if {result.fingerprint for result in results} != {fingerprint}:
        return "trained on other data than this process has; give all machines the same data files"
    return None
