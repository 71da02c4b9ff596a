"""Sweeps on a Dask cluster: a real scheduler and two worker processes on the loopback address."""

import importlib
import logging
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from abnet.paper import RunStore, sweep

dask = pytest.importorskip("dask", reason="needs abnet[dask]")
distributed = pytest.importorskip("distributed", reason="needs abnet[dask]")


@pytest.fixture(scope="module")
def fake() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(Path(__file__).parent)
        module = importlib.import_module("fake_training")
        monkeypatch.setattr("abnet.paper.runs.sweeping._fingerprint", module.fingerprint)
        yield module


@pytest.fixture(scope="module")
def client(fake: ModuleType) -> Iterator[Any]:
    """A client; the workers are started after `fake`, whose folder they inherit on their path."""
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_every_run_is_trained_on_the_cluster_and_stored_here(fake: ModuleType, client: Any, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(fake.settings(12), store, train=fake.train_or_fail, client=client)
        assert (report.done, list(report.failures)) == (11 * 8, ["circles 2 PBGNet+ABNet #1"])
        assert {r.setting for r in store.results()} == {s for s in fake.settings(12) if s.repetition != 1}


def test_a_group_that_kills_worker_after_worker_is_reported(fake: ModuleType, client: Any) -> None:
    with RunStore(":memory:") as store:
        report = sweep(fake.settings(4), store, train=fake.train_or_die, client=client)
        assert report.failures["circles 2 PBGNet+ABNet #1"].startswith("KilledWorker")
        assert report.done + 8 * len(report.failures) == 32
