"""Sweeps on this machine: order, processes, failures, interruption, resumption."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from abnet.experiments import RunStore, key, sweep
from abnet.experiments.sweep import SweepProgress, expected_cost

HERE = Path(__file__).parent


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(HERE)
    return importlib.import_module("fake_training")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_run_is_trained_once_and_stored(fake: ModuleType, tmp_path: Path, jobs: int) -> None:
    groups = fake.groups(5)
    with RunStore(tmp_path / "runs.sqlite") as store:
        options = {"fingerprint_of": fake.fingerprint_of, "jobs": jobs, "quiet": True}
        report = sweep(groups, store, run_group=fake.train, **options)
        assert (report.done, report.failed, report.skipped, report.exit_code) == (40, 0, 0, 0)
        again = sweep(groups, store, run_group=fake.train_or_fail, **options)
        assert (again.done, again.failed, again.skipped) == (0, 0, 40)
        stored = {run.setting: run for run in store.runs()}
        assert set(stored) == {s for group in groups for s in group.settings}
        for setting, run in stored.items():
            expected = fake.result_of(setting)
            assert run.key == key(setting, "fingerprint of ads")
            assert run.result is not None
            assert run.result.test_error == expected.test_error
            assert store.curve(run.key) == expected.curve


def test_one_process_trains_in_order(fake: ModuleType, tmp_path: Path) -> None:
    seen = []

    def train(group, *, data_dir, progress=None):  # type: ignore[no-untyped-def]
        seen.append(group)
        return fake.train(group, data_dir=data_dir)

    with RunStore(tmp_path / "runs.sqlite") as store:
        sweep(fake.groups(4), store, run_group=train, fingerprint_of=fake.fingerprint_of, quiet=True)
    assert seen == fake.groups(4)


def test_only_the_missing_part_of_a_group_is_trained(fake: ModuleType, tmp_path: Path) -> None:
    (group,) = fake.groups(1)
    half = group.only(group.settings[::2])
    sizes = []

    def train(group, *, data_dir, progress=None):  # type: ignore[no-untyped-def]
        sizes.append(len(group.settings))
        return fake.train(group, data_dir=data_dir)

    with RunStore(tmp_path / "runs.sqlite") as store:
        for part in (half, group):
            sweep([part], store, run_group=train, fingerprint_of=fake.fingerprint_of, quiet=True)
        assert len(store.runs()) == 8
    assert sizes == [4, 4]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_group_is_stored_and_the_rest_goes_on(
    fake: ModuleType, tmp_path: Path, jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        options = {"fingerprint_of": fake.fingerprint_of, "jobs": jobs}
        report = sweep(fake.groups(4), store, run_group=fake.train_or_fail, **options)
        assert (report.done, report.failed, report.exit_code) == (24, 8, 1)
        errors = {run.error for run in store.runs(status="failed")}
        assert len(errors) == 1
        error = str(errors.pop())
        assert error.startswith("FloatingPointError: the loss is not a number (fake_training.py:")
        assert os.sep not in error
        assert "ads 2 PBGNet+ABNet #1: failed, FloatingPointError" in capsys.readouterr().err
        repaired = sweep(fake.groups(4), store, run_group=fake.train, **options)
        assert (repaired.done, repaired.skipped, store.runs(status="failed")) == (8, 24, [])


def test_a_group_that_kills_its_process_fails_alone(fake: ModuleType, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(
            fake.groups(6), store, run_group=fake.train_or_die, fingerprint_of=fake.fingerprint_of, jobs=2, quiet=True
        )
        assert (report.done, report.failed) == (40, 8)
        assert {run.setting.repetition for run in store.runs(status="failed")} == {1}
        assert "was killed" in str(store.runs(status="failed")[0].error)


def test_results_from_other_data_are_a_failure(fake: ModuleType, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(
            fake.groups(1), store, run_group=fake.train_other_data, fingerprint_of=fake.fingerprint_of, quiet=True
        )
        assert (report.failed, store.runs()) == (8, [])
        assert "other data" in str(store.runs(status="failed")[0].error)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_a_store_to_continue_from(fake: ModuleType, tmp_path: Path, jobs: int) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    path = tmp_path / "runs.sqlite"
    code = f"import sys, fake_training as f; sys.exit(f.sweep_in_process(sys.argv[1], sys.argv[2], 50, jobs={jobs}))"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(marks)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends the signal to the workers too, so the test does the same
    ) as child:
        with RunStore(path) as watching:
            while len(watching.runs()) < 16:
                time.sleep(0.01)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "runs stored in" in said.splitlines()[-1]
    assert "the same command continues" in said.splitlines()[-1]
    assert "Traceback" not in said
    with RunStore(path) as store:
        before = len(store.runs())
        assert 0 < before < 50 * 8
        assert before % 8 == 0
        claims = [store.claim(group, fingerprint="fingerprint of ads") for group in fake.groups(50)]
        assert sum(len(claim.keys) for claim in claims if claim) == 50 * 8 - before


def test_ctrl_c_is_for_the_driver_alone(fake: ModuleType, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        report = sweep(
            fake.groups(4),
            store,
            run_group=fake.train_through_ctrl_c,
            fingerprint_of=fake.fingerprint_of,
            jobs=2,
            quiet=True,
        )
        assert (report.done, report.failed, report.interrupted) == (32, 0, False)


def test_an_interrupted_sweep_frees_its_claims_while_the_store_stays_open(fake: ModuleType, tmp_path: Path) -> None:
    def train(group, *, data_dir, progress=None):  # type: ignore[no-untyped-def]
        if group.repetition == 1:
            raise KeyboardInterrupt
        return fake.train(group, data_dir=data_dir)

    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store, RunStore(path) as other:
        report = sweep(fake.groups(3), store, run_group=train, fingerprint_of=fake.fingerprint_of, quiet=True)
        assert (report.interrupted, report.done, report.skipped, report.exit_code) == (True, 8, 0, 130)
        claims = [other.claim(group, fingerprint="fingerprint of ads") for group in fake.groups(3)]
        assert [claim is not None for claim in claims] == [False, True, True]


def test_without_the_data_nothing_starts(fake: ModuleType, tmp_path: Path) -> None:
    def absent(name: str) -> str:
        raise FileNotFoundError(f"{name} is not here")

    with RunStore(tmp_path / "runs.sqlite") as store, pytest.raises(FileNotFoundError, match="ads is not here"):
        sweep(fake.groups(1), store, run_group=fake.train, fingerprint_of=absent, quiet=True)


def test_the_time_left_follows_the_cost_of_what_is_left(fake: ModuleType) -> None:
    cheap, dear = fake.groups(1)[0], fake.groups(1, dataset="mnistLH")[0]
    ratio = expected_cost(dear) / expected_cost(cheap)
    assert ratio == pytest.approx(70_000 / 64 / (3_279 / 32))
    now = iter([0.0, 10.0, 10.0])
    progress = SweepProgress(16, expected_cost(cheap) + expected_cost(dear), clock=lambda: next(now))
    progress.advance(cheap, "done")
    hours, minutes, seconds = map(int, progress.time_left().split(":"))
    assert hours * 3600 + minutes * 60 + seconds == round(10 * ratio)
