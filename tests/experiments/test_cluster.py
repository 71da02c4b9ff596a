"""Sweeps on a Dask cluster: a real scheduler and two worker processes on the loopback address."""

import importlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from abnet.experiments import RunStore, sweep
from abnet.experiments.sweep import SweepReport

dask = pytest.importorskip("dask", reason="needs abnet[dask]")
distributed = pytest.importorskip("distributed", reason="needs abnet[dask]")


@pytest.fixture(scope="module")
def fake() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(Path(__file__).parent)
        yield importlib.import_module("fake_training")


@contextmanager
def started(workers: int, *, patience: int) -> Iterator[Any]:
    """A cluster whose scheduler gives a group up when more than `patience` workers have died of it."""
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": patience}),
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, **options) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def scheduler(fake: ModuleType) -> Iterator[Any]:
    """A cluster; its workers are started after `fake`, whose folder they inherit on their path."""
    with started(2, patience=1) as cluster:
        yield cluster


def swept(fake: ModuleType, cluster: Any, store: RunStore, groups: int, run_group: Any, **options: Any) -> SweepReport:
    """A sweep of so many groups on the cluster."""
    options |= {"fingerprint_of": fake.fingerprint_of, "cluster": cluster.scheduler_address, "quiet": True}
    return sweep(fake.groups(groups), store, run_group=run_group, **options)


def test_a_killed_worker_loses_nothing(fake: ModuleType, scheduler: Any, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    def kill_the_worker_that_hangs() -> None:
        while not (hanging := list(marks.iterdir())):
            time.sleep(0.01)
        os.kill(int(hanging[0].name), signal.SIGKILL)

    killer = threading.Thread(target=kill_the_worker_that_hangs, daemon=True)
    killer.start()
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = swept(fake, scheduler, store, 12, fake.train_or_hang, data_dir=marks)
        assert (report.done, report.failed, report.exit_code) == (12 * 8, 0, 0)
        assert {run.setting for run in store.runs()} == {s for g in fake.groups(12) for s in g.settings}
    (killed,) = marks.iterdir()  # it did hang, in another process than this one
    assert int(killed.name) != os.getpid()


def test_a_group_that_kills_worker_after_worker_fails_alone(fake: ModuleType, scheduler: Any, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = swept(fake, scheduler, store, 4, fake.train_or_die)
        assert (report.done, report.failed) == (24, 8)
        assert {run.setting.repetition for run in store.runs(status="failed")} == {1}
        assert str(store.runs(status="failed")[0].error).startswith("KilledWorker")


def test_groups_that_wait_beside_the_one_to_blame_are_done(fake: ModuleType, tmp_path: Path) -> None:
    """One worker is given two groups at a time; when it dies, a scheduler without patience gives up both."""
    with started(1, patience=0) as cluster, RunStore(tmp_path / "runs.sqlite") as store:
        report = swept(fake, cluster, store, 3, fake.train_or_die)
        assert (report.done, report.failed) == (16, 8)
        assert {run.setting.repetition for run in store.runs(status="failed")} == {1}


def test_no_scheduler_at_the_address(fake: ModuleType, tmp_path: Path) -> None:
    from abnet.experiments.backends import on_cluster

    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        next(on_cluster("tcp://127.0.0.1:9", timeout=0.5)(iter([])))


def test_without_dask_the_error_says_what_to_install(
    fake: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    options = {"fingerprint_of": fake.fingerprint_of, "cluster": "tcp://127.0.0.1:9", "quiet": True}
    with RunStore(tmp_path / "runs.sqlite") as store, pytest.raises(ImportError, match=r"pip install 'abnet\[dask\]'"):
        sweep(fake.groups(1), store, run_group=fake.train, **options)
