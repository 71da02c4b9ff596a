"""The real trainer on the embedded circles: same networks side by side and one by one, killed and resumed."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abnet import data
from abnet.experiments import Result, RunStore, Setting, SettingGroup, groups_of
from abnet.experiments import run_group as training
from abnet.experiments.exchange import export_runs
from abnet.experiments.protocol import protocol_of
from abnet.experiments.run_group import run_group
from abnet.training.runner import Stack

RATES = (0.1, 0.00001)  # the second stops at once, as nothing improves


@pytest.fixture(autouse=True)
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "protocol_of", lambda s: replace(protocol_of(s), max_epochs=12, patience=2))


def group(sizes: tuple[int, ...], models: tuple[str, ...], rates: tuple[float, ...] = RATES) -> SettingGroup:
    return SettingGroup(tuple(Setting("circles", model, sizes, rate, 0) for model in models for rate in rates))


def close(a: Result, b: Result) -> None:
    assert (a.setting, a.epochs, a.best_epoch) == (b.setting, b.epochs, b.best_epoch)
    for name in ("train_error", "test_error", "map_test_error"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), abs=0.004)  # one of 250 rows may sit on the border
    assert a.bound == pytest.approx(b.bound, abs=1e-5)
    assert a.curve["monitored"] == pytest.approx(b.curve["monitored"], abs=1e-5)


def test_side_by_side_gives_the_networks_of_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    together = group((2, 2), ("PBGNet", "ABNet"))
    results = run_group(together, data_dir=None)
    assert len({result.epochs for result in results}) > 1  # some stop while others go on
    monkeypatch.setattr(training, "SHRINK_FROM", 0)
    kept: list[int] = []
    keep = Stack.keep

    def keep_and_tell(stack: Any, count: int) -> None:
        kept.append(count)
        keep(stack, count)

    monkeypatch.setattr(Stack, "keep", keep_and_tell)
    for alone, shrunk in zip(results, run_group(together, data_dir=None), strict=True):
        close(shrunk, alone)
    assert kept == [1, 1, 0, 1]  # half of each model, then PBGNet has stopped
    (alone,) = run_group(group((2, 2), ("ABNet",), (0.1,)), data_dir=None)
    close(alone, results[2])


def test_programs_are_kept_for_the_repetitions_of_a_group_only(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared: list[int] = []
    training._drop_programs_of_others.cache_clear()
    monkeypatch.setattr("jax.clear_caches", lambda: cleared.append(1))
    settings = [Setting("circles", "ABNet", (2,), 0.1, repetition) for repetition in (0, 1)]
    counts = []
    for setting in (*settings, replace(settings[0], hidden_layer_sizes=(1,)), settings[0]):
        run_group(SettingGroup((setting,)), data_dir=None)
        counts.append(len(cleared))
    assert counts == [1, 1, 2, 3]


def test_the_figures_are_those_of_the_kept_network() -> None:
    """Bound and errors anew from the definitions: a network that never moved far is close to its prior."""
    (result,) = run_group(group((2, 2), ("ABNet",), (0.01,)), data_dir=None)
    n = round(0.75 * 1000)
    assert result.kl is not None
    assert result.C is not None
    assert result.train_loss is not None
    assert result.bound is not None
    inner = result.C * result.train_loss + (result.kl + np.log(2 * np.sqrt(n) / 0.05)) / n
    assert result.bound == pytest.approx((1 - np.exp(-inner)) / (1 - np.exp(-result.C)), abs=1e-6)
    assert result.curve["monitored"][result.best_epoch] == pytest.approx(min(result.curve["monitored"]), abs=1e-6)
    circles = data.load("circles")
    assert result.fingerprint == data.fingerprint(circles.X, circles.y)


def test_one_hidden_layer_is_trained_once_for_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    both = group((2,), ("PBGNet", "ABNet"))
    results = run_group(both, data_dir=None)
    assert [r.setting for r in results] == list(both.settings)
    monkeypatch.setattr(training, "_twin", lambda setting: setting)
    for copied, trained in zip(results, run_group(both, data_dir=None), strict=True):
        close(copied, trained)
        assert copied.kl == pytest.approx(trained.kl, rel=1e-4)


SWEEP = """
import sys
from abnet.experiments import RunStore, Setting, groups_of, sweep
from abnet.experiments.run_group import run_group

trained = []

def hang_after_the_second(group, *, data_dir):
    trained.append(run_group(group, data_dir=data_dir))
    if len(trained) == 2:
        print("trained, not stored", flush=True)
        sys.stdin.read()
    return trained[-1]

way, *paths = sys.argv[1:]
settings = [Setting("circles", "ABNet", (2,), 0.1, k) for k in range(4)]
for path in paths:
    with RunStore(path) as store:
        sweep(groups_of(settings), store, run_group=hang_after_the_second if way == "hang" else run_group, quiet=True)
"""


def test_killed_and_resumed_gives_the_runs_of_an_undisturbed_sweep(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    command, pipe = [sys.executable, "-c", SWEEP], subprocess.PIPE
    with subprocess.Popen([*command, "hang", str(killed)], stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "trained, not stored\n"
        child.kill()
    with RunStore(killed) as store:
        assert len(store.runs()) == 1
    subprocess.run([*command, "finish", str(killed), str(whole)], check=True)
    with RunStore(killed) as a, RunStore(whole) as b:
        assert len(a.runs()) == 4
        assert _without_seconds(export_runs(a.runs())) == _without_seconds(export_runs(b.runs()))


def _without_seconds(text: str) -> list[list[str]]:
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    column = rows[0].index("seconds")
    return [row[:column] + row[column + 1 :] for row in rows]


def test_groups_of_other_data_sets_come_after_the_papers() -> None:
    settings = [Setting(name, "ABNet", (2,), 0.1, 0) for name in ("circles", "ads")]
    assert [g.dataset for g in groups_of(settings)] == ["ads", "circles"]
