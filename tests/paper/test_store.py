"""The run store: what it keeps, what it refuses, and that one process has it at a time."""

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abnet.paper import Result, RunStore, Setting, StoreError
from abnet.paper.protocol import protocol_of
from abnet.paper.runs.run_key import key

SETTING = Setting("ads", "ABNet", (2, 2), 0.1, 0)


def result(setting: Setting = SETTING, test_error: float = 0.04, fingerprint: str | None = "f") -> Result:
    return Result(setting, 0.01, test_error, 0.05, 30, 10, 2.5, bound=0.2, C=1.5, fingerprint=fingerprint)


def test_a_result_comes_back_as_it_went_in(tmp_path: Path) -> None:
    full = Result(
        replace(SETTING, trial_epochs=3),
        train_error=0.125,
        test_error=np.float32(0.25),  # type: ignore[arg-type]
        map_test_error=0.5,
        epochs=np.int64(40),  # type: ignore[arg-type]
        best_epoch=20,
        seconds=3.5,
        bound=0.75,
        kl=12.0,
        C=2.0,
        train_loss=0.3,
        test_loss=0.4,
        validation_error=0.6,
        validation_loss=0.7,
        curve={"bound": [1.0, 0.5]},
        fingerprint="f",
    )
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert store.add([full]) == 1
    with RunStore(tmp_path / "runs.sqlite", create=False) as store:
        assert store.results() == [full]
        assert store.keys() == {key(full.setting, "f")}


def test_a_diverged_run_is_kept_but_has_no_score() -> None:
    with RunStore(":memory:") as store:
        store.add([replace(result(test_error=float("nan")), bound=float("nan"))])
        (stored,) = store.results()
    assert np.isnan(stored.test_error)
    assert (stored.bound, stored.score) == (None, float("inf"))


def test_a_stored_run_stays_as_it_is() -> None:
    with RunStore(":memory:") as store:
        assert [store.add([result()]), store.add([result(test_error=0.9)])] == [1, 0]
        assert [r.test_error for r in store.results()] == [0.04]


def test_only_runs_of_this_version_and_of_the_newest_data_count(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(SETTING, repetition=1)
    with RunStore(":memory:") as store:
        store.add([result(fingerprint="old"), result(other, fingerprint="old")])
        store.add([result(fingerprint="new")])
        assert [(r.setting, r.fingerprint) for r in store.results()] == [(SETTING, "new")]
        monkeypatch.setattr("abnet.paper.runs.run_key.protocol_of", lambda s: replace(protocol_of(s), patience=10))
        assert store.results() == []


def test_results_are_stored_all_or_none() -> None:
    others = [replace(result(), setting=replace(SETTING, repetition=k)) for k in range(3)]
    with RunStore(":memory:") as store:
        with pytest.raises(OverflowError):
            store.add([*others, replace(result(), epochs=2**70)])
        with pytest.raises(ValueError, match="fingerprint"):
            store.add([*others, result(fingerprint=None)])
        assert store.results() == []
        assert store.add(others) == 3


def test_a_second_process_is_told_that_the_store_is_in_use(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    code = f"from abnet.paper import RunStore; store = RunStore({str(path)!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-3, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        for create in (True, False):
            with pytest.raises(StoreError, match="process"):
                RunStore(path, create=create)
        other.kill()
    with RunStore(path) as store:  # whatever became of that process, its lock is gone
        assert store.add([result()]) == 1


def test_files_that_are_no_run_stores_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look like one\n" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        RunStore(text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE runs (x)")
    connection.close()
    with pytest.raises(StoreError, match=r"foreign\.sqlite"):
        RunStore(foreign)
    with pytest.raises(StoreError, match=r"absent\.sqlite"):
        RunStore(tmp_path / "absent.sqlite", create=False)
    assert not (tmp_path / "absent.sqlite").exists()
    with pytest.raises(StoreError, match="absent"):
        RunStore(tmp_path / "absent" / "runs.sqlite")
