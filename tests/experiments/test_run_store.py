"""The run store: what it keeps, whom it lets work, and what it survives."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abnet.experiments import Result, RunStore, Setting, SettingGroup, StoreError, key
from abnet.experiments.owners import Owner, is_dead, this_process

HERE = Path(__file__).parent
GROUP = SettingGroup(
    tuple(Setting("ads", model, (2, 2), rate, 0) for model in ("PBGNet", "ABNet") for rate in (0.1, 0.01))
)


def result(setting: Setting, test_error: float = 0.04) -> Result:
    return Result(setting, 0.01, test_error, 0.05, epochs=30, best_epoch=10, seconds=2.5, bound=0.2, C=1.5)


def results(group: SettingGroup) -> list[Result]:
    return [result(setting) for setting in group.settings]


def process(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python process that finds the fake trainers; its input ends with the block, and not before."""
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code, *arguments]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)


class Clock:
    """A clock that stands still until it is set; the store asks it for the time."""

    def __init__(self) -> None:
        self.now = 1e9

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("abnet.experiments.store.time", clock)
    return clock


def test_a_result_comes_back_as_it_went_in(tmp_path: Path) -> None:
    group = SettingGroup(GROUP.settings[:1])
    full = Result(
        group.settings[0],
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
        curve={"bound": [1.0, float("nan"), 0.5]},
    )
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(group, fingerprint="f")
        assert claim is not None
        store.record(claim, [full], machine={"cpu": "abacus"})
    with RunStore(tmp_path / "runs.sqlite", create=False) as store:
        (run,) = store.runs()
        assert run.result == replace(full, curve={}, test_error=0.25, epochs=40)
        assert store.curve(run.key) == {"bound": [1.0, None, 0.5]}
    assert (run.key, run.status, run.machine) == (key(group.settings[0], "f"), "done", {"cpu": "abacus"})
    assert run.provenance["protocol"]["max_epochs"] == 100  # type: ignore[index]


def test_a_diverged_run_is_kept_but_has_no_score(tmp_path: Path) -> None:
    group = SettingGroup(GROUP.settings[:1])
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(group, fingerprint="f")
        assert claim is not None
        store.record(claim, [replace(result(group.settings[0], float("nan")), bound=float("nan"))])
        stored = store.runs()[0].result
    assert stored is not None
    assert np.isnan(stored.test_error)
    assert (stored.bound, stored.score) == (None, float("inf"))


def test_what_is_claimed_or_done_is_not_claimed_again(tmp_path: Path) -> None:
    part = SettingGroup(GROUP.settings[:1])
    with RunStore(tmp_path / "runs.sqlite") as mine, RunStore(tmp_path / "runs.sqlite") as other:
        held = mine.claim(part, fingerprint="f")
        assert held is not None
        rest = other.claim(GROUP, fingerprint="f")
        assert rest is not None
        assert rest.group.settings == GROUP.settings[1:]
        assert mine.claim(GROUP, fingerprint="f") is None
        mine.record(held, results(part))
        assert other.claim(part, fingerprint="f") is None
        other.release(rest)
        again = mine.claim(GROUP, fingerprint="f")
        assert again is not None
        assert again.group.settings == GROUP.settings[1:]


def test_other_data_and_other_numerics_are_other_runs(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        store.record(claim, results(GROUP))
        assert store.claim(GROUP, fingerprint="f") is None
        assert store.claim(GROUP, fingerprint="g") is not None
        assert store.claim(GROUP, fingerprint="f", numerics_version=999) is not None


def test_closing_gives_up_all_claims(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert store.claim(GROUP, fingerprint="f") is not None
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert store.claim(GROUP, fingerprint="f") is not None


def test_a_failure_is_kept_until_the_group_succeeds(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        store.record_failure(claim, "out of luck")
        assert [run.error for run in store.runs(status="failed")] == ["out of luck"] * 4
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        store.record(claim, results(GROUP))
        assert (len(store.runs()), store.runs(status="failed")) == (4, [])


def test_a_late_result_does_not_replace_a_stored_one(tmp_path: Path, clock: Clock) -> None:
    with RunStore(tmp_path / "runs.sqlite") as slow, RunStore(tmp_path / "runs.sqlite", lease=0.0) as quick:
        late = slow.claim(GROUP, fingerprint="f")
        clock.now += 1
        claim = quick.claim(GROUP, fingerprint="f")  # a lease of no time: the other claim is stale
        assert late is not None
        assert claim is not None
        quick.record(claim, results(GROUP))
        slow.record(late, [result(s, 0.9) for s in GROUP.settings])
        slow.record_failure(late, "too late")
        assert [run.result.test_error for run in quick.runs() if run.result] == [0.04] * 4


def test_the_heartbeat_keeps_a_claim(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path, lease=1.0) as mine, RunStore(path, lease=1.0) as other, mine.heartbeat():
        assert mine.claim(GROUP, fingerprint="f") is not None
        clock.now += 1.2  # later than the lease of the claim alone
        for _ in range(1000):  # 10 seconds in which this process runs; a beat comes after a quarter of one
            if _last_beat(path) == clock.now:
                break
            time.sleep(0.01)
        clock.now += 0.9
        assert other.claim(GROUP, fingerprint="f") is None


def test_without_a_heartbeat_a_claim_ends_with_its_lease(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path, lease=1.0) as mine, RunStore(path, lease=1.0) as other:
        assert mine.claim(GROUP, fingerprint="f") is not None
        clock.now += 0.9
        assert other.claim(GROUP, fingerprint="f") is None
        clock.now += 0.2
        assert other.claim(GROUP, fingerprint="f") is not None


@pytest.mark.parametrize("broken", ["missing", "doubled", "foreign data"])
def test_wrong_results_are_refused_and_nothing_is_stored(tmp_path: Path, broken: str) -> None:
    wrong = {
        "missing": results(GROUP)[1:],
        "doubled": [*results(GROUP), result(GROUP.settings[0])],
        "foreign data": [replace(r, fingerprint="g") for r in results(GROUP)],
    }
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        with pytest.raises(ValueError, match=r"do not match|other data"):
            store.record(claim, wrong[broken])
        assert store.runs() == []


def test_a_group_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        unwritable = [*results(GROUP)[:3], replace(results(GROUP)[3], epochs=2**70)]
        with pytest.raises(OverflowError):
            store.record(claim, unwritable)
        assert store.runs() == []
        store.record(claim, results(GROUP))
        assert len(store.runs()) == 4


def test_files_that_are_no_run_stores_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look like one\n" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used as a run store"):
        RunStore(text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        RunStore(foreign)
    with pytest.raises(StoreError, match="no run store at"):
        RunStore(tmp_path / "absent.sqlite", create=False)
    assert not (tmp_path / "absent.sqlite").exists()
    with pytest.raises(StoreError, match="folder"):
        RunStore(tmp_path / "absent" / "runs.sqlite")


def test_a_store_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    RunStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="format 99, this version of abnet reads format 1"):
        RunStore(path)


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        claim = store.claim(GROUP, fingerprint="f")
        assert claim is not None
        store.record(claim, results(GROUP))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be used as a run store"):
        RunStore(path)


def test_a_killed_process_is_known_to_be_dead() -> None:
    if not this_process().place:
        pytest.skip("this system does not tell the start of a process")
    code = (
        "import sys; from abnet.experiments.owners import this_process; "
        "print(*vars(this_process()).values(), sep='|', flush=True); sys.stdin.read()"
    )
    with process(code) as child:
        assert child.stdout is not None
        id_, pid, place, started = child.stdout.readline().strip().split("|")
        owner = Owner(id_, int(pid), place, started)
        assert not is_dead(owner)
        assert is_dead(replace(owner, started="0"))  # the number was given to another process
        assert not is_dead(replace(owner, place="elsewhere"))
        child.kill()
        for _ in range(3000):  # dead before anyone has waited for it
            if is_dead(owner):
                break
            time.sleep(0.01)
        assert is_dead(owner)


def test_the_claim_of_a_killed_process_is_taken_over_at_once(tmp_path: Path) -> None:
    if not this_process().place:
        pytest.skip("this system does not tell the start of a process")
    path = tmp_path / "runs.sqlite"
    code = (
        "import sys, fake_training as f; from abnet.experiments import RunStore; s = RunStore(sys.argv[1]); "
        "s.claim(f.groups(1)[0], fingerprint='f'); print('claimed', flush=True); sys.stdin.read()"
    )
    group = SettingGroup(
        tuple(Setting("ads", m, (2,), r, 0) for m in ("PBGNet", "ABNet") for r in (0.1, 0.01, 0.001, 0.0001))
    )
    with process(code, str(path)) as child, RunStore(path) as store:
        assert child.stdout is not None
        assert child.stdout.readline() == "claimed\n"
        assert store.claim(group, fingerprint="f") is None
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert store.claim(group, fingerprint="f") is not None


def test_two_processes_share_the_work_and_repeat_nothing(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    code = (
        "import sys, fake_training as f; f.meet(sys.argv[2] + '/../met', 2); "
        "sys.exit(f.sweep_in_process(sys.argv[1], sys.argv[2], 14, run_group=f.train_side_by_side))"
    )
    path = tmp_path / "runs.sqlite"  # neither process finds it made: they also race to make it
    with process(code, str(path), str(marks)) as one, process(code, str(path), str(marks)) as two:
        assert (one.wait(60), two.wait(60)) == (0, 0)
    trained = Counter(mark.name.rsplit(" ", 1)[0] for mark in marks.iterdir())
    assert len(trained) == 14
    assert set(trained.values()) == {1}
    assert len({mark.read_text() for mark in marks.iterdir()}) == 2
    with RunStore(path) as store:
        assert len(store.runs()) == 14 * 8


def test_kill_9_loses_at_most_the_group_in_progress(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    path = tmp_path / "runs.sqlite"
    code = "import sys, fake_training as f; sys.exit(f.sweep_in_process(sys.argv[1], sys.argv[2], 8))"
    for kill_at in (2, 5):
        with process(code, str(path), str(marks)) as child:
            while len(list(marks.iterdir())) < kill_at:
                time.sleep(0.01)
            child.send_signal(signal.SIGKILL)
    with process(code, str(path), str(marks)) as child:
        assert child.wait(60) == 0
    with RunStore(path) as store:
        assert len(store.runs()) == 8 * 8
    assert len(list(marks.iterdir())) <= 8 + 2


def _last_beat(path: Path) -> float:
    connection = sqlite3.connect(path)
    (beat,) = connection.execute("SELECT max(heartbeat) FROM owners").fetchone()
    connection.close()
    return float(beat)
