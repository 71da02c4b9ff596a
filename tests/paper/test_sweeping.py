"""Sweeps on this machine: every run once, failures, Ctrl-C, resumption."""

import importlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from abnet.paper import RunStore, Setting, sweep, table1_grid
from abnet.paper.runs.setting_groups import groups_of
from abnet.paper.runs.sweep_progress import expected_cost

HERE = Path(__file__).parent


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(HERE)
    module = importlib.import_module("fake_training")
    monkeypatch.setattr("abnet.paper.runs.sweeping._fingerprint", module.fingerprint)
    return module


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_run_is_trained_once_and_stored(fake: ModuleType, tmp_path: Path, jobs: int) -> None:
    settings = fake.settings(5)
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(settings, store, train=fake.train, jobs=jobs)
        assert (report.done, report.failures, report.skipped) == (40, {}, 0)
        again = sweep(settings, store, train=fake.train_or_fail, jobs=jobs)
        assert (again.done, again.failures, again.skipped) == (0, {}, 40)
        assert {r.setting: r for r in store.results()} == {s: fake.result_of(s) for s in settings}


def test_only_the_missing_part_of_a_group_is_trained(fake: ModuleType) -> None:
    settings = fake.settings(2)
    trained = []

    def train(group: Any, *, data_dir: str | None) -> Any:
        trained.append(len(group.settings))
        return fake.train(group, data_dir=data_dir)

    with RunStore(":memory:") as store:
        sweep(settings[:4:2], store, train=train)
        sweep(settings, store, train=train)
        assert len(store.results()) == 16
    assert trained == [2, 6, 8]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_group_is_reported_and_the_rest_goes_on(
    fake: ModuleType, tmp_path: Path, jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(fake.settings(4), store, train=fake.train_or_fail, jobs=jobs, verbose=True)
        assert (report.done, list(report.failures)) == (24, ["circles 2 PBGNet+ABNet #1"])
        (error,) = report.failures.values()
        assert error.startswith("FloatingPointError: the loss is not a number (fake_training.py:")
        assert "#1: failed, FloatingPointError" in capsys.readouterr().err
        repaired = sweep(fake.settings(4), store, train=fake.train, jobs=jobs)
        assert (repaired.done, repaired.skipped, repaired.failures) == (8, 24, {})


def test_a_group_that_kills_its_process_fails_alone(fake: ModuleType) -> None:
    with RunStore(":memory:") as store:
        report = sweep(fake.settings(6), store, train=fake.train_or_die, jobs=2)
        assert (report.done, list(report.failures)) == (40, ["circles 2 PBGNet+ABNet #1"])
        assert {r.setting.repetition for r in store.results()} == {0, 2, 3, 4, 5}


@pytest.mark.parametrize("wrong", ["other data", "missing"])
def test_results_that_were_not_asked_for_are_a_failure(fake: ModuleType, wrong: str) -> None:
    def train(group: Any, *, data_dir: str | None) -> Any:
        results = fake.train(group, data_dir=data_dir)
        if wrong == "missing":
            return results[1:]
        return [replace(r, fingerprint="g") for r in results]

    with RunStore(":memory:") as store:
        report = sweep(fake.settings(1), store, train=train)
        assert (report.done, len(report.failures), store.results()) == (0, 1, [])


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_was_finished_and_ends_the_workers(fake: ModuleType, tmp_path: Path, jobs: int) -> None:
    marks = tmp_path / "marks"
    path = tmp_path / "runs.sqlite"
    marks.mkdir()
    code = f"import fake_training as f; f.sweep_in_process({str(path)!r}, {str(marks)!r}, {jobs})"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends the signal to the workers too, so the test does the same
    ) as child:
        wanted = [marks / f"stored {k}" for k in range(8)] + [marks / f"group {8 + k}" for k in range(jobs)]
        while not all(mark.exists() for mark in wanted):  # until every process is at a group that does not end
            assert child.poll() is None
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert said.count("Traceback") == 1  # that of the driver
    processes = [int(mark.name.split()[1]) for mark in marks.glob("process *")]
    assert len(processes) == jobs
    assert not any(map(_runs, processes))
    with RunStore(path) as store:
        assert {r.setting.repetition for r in store.results()} == set(range(8))
        assert sweep(fake.settings(9), store, train=fake.train).done == 8


def test_ctrl_c_is_for_the_driver_alone(fake: ModuleType) -> None:
    with RunStore(":memory:") as store:
        report = sweep(fake.settings(4), store, train=fake.train_through_ctrl_c, jobs=2)
        assert (report.done, report.failures) == (32, {})


def _runs(process: int) -> bool:
    """Whether it runs, after at most 10 seconds; a zombie does not."""
    for _ in range(1000):
        try:
            os.kill(process, 0)
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state in "ZX":
            return False
        time.sleep(0.01)
    return True


def test_without_the_data_nothing_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ABNET_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    with RunStore(":memory:") as store, pytest.raises(FileNotFoundError, match="ads"):
        sweep(table1_grid(datasets=["ads"]), store, train=pytest.fail)


def test_the_cost_of_a_group_follows_its_minibatches() -> None:
    cheap, dear = groups_of([Setting(name, "ABNet", (2,), 0.1, 0) for name in ("ads", "mnistLH")])
    assert expected_cost(dear) / expected_cost(cheap) == pytest.approx(70_000 / 64 / (3_279 / 32))
