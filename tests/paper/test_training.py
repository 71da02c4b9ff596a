"""The real trainer on the embedded circles."""

from dataclasses import replace

import numpy as np
import pytest

from abnet.paper import RunStore, Setting, load, run, sweep
from abnet.paper.data.data_fingerprint import data_fingerprint
from abnet.paper.runs import group_training
from abnet.paper.runs.group_training import run_group
from abnet.paper.runs.setting_groups import SettingGroup, groups_of
from paper.short_groups import few_epochs, group  # noqa: F401 a fixture

pytestmark = pytest.mark.usefixtures("few_epochs")


def test_programs_are_kept_for_the_repetitions_of_a_group_only(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared: list[int] = []
    group_training._drop_programs_of_others.cache_clear()
    monkeypatch.setattr("jax.clear_caches", lambda: cleared.append(1))
    settings = [Setting("circles", "ABNet", (2,), 0.1, repetition) for repetition in (0, 1)]
    counts = []
    for setting in (*settings, replace(settings[0], hidden_layer_sizes=(1,)), settings[0]):
        run_group(SettingGroup((setting,)), data_dir=None)
        counts.append(len(cleared))
    assert counts == [1, 1, 2, 3]


def test_the_figures_are_those_of_the_kept_network() -> None:
    """Bound and errors anew from the definitions: a network that never moved far is close to its prior."""
    (result,) = run_group(group((2,), ("ABNet",), (0.01,)), data_dir=None)
    n = round(0.75 * 1000)
    assert result.kl is not None
    assert result.C is not None
    assert result.train_loss is not None
    assert result.bound is not None
    inner = result.C * result.train_loss + (result.kl + np.log(2 * np.sqrt(n) / 0.05)) / n
    assert result.bound == pytest.approx((1 - np.exp(-inner)) / (1 - np.exp(-result.C)), abs=1e-6)
    assert result.curve["monitored"][result.best_epoch] == pytest.approx(min(result.curve["monitored"]), abs=1e-6)
    circles = load("circles")
    assert result.fingerprint == data_fingerprint(circles.X, circles.y)


def test_run_is_the_run_of_a_group_of_one() -> None:
    result = run("circles", "ABNet", [2], 0.1, 0)
    assert result.setting == Setting("circles", "ABNet", (2,), 0.1, 0)
    (same,) = run_group(group((2,), ("ABNet",), (0.1,)), data_dir=None)
    assert replace(result, seconds=0.0) == replace(same, seconds=0.0)


def test_a_real_sweep_goes_on_where_it_stopped() -> None:
    settings = [Setting("circles", "ABNet", (2,), 0.1, k) for k in range(3)]
    with RunStore(":memory:") as store:
        assert sweep(settings[:2], store).done == 2
        report = sweep(settings, store)
        assert (report.done, report.skipped) == (1, 2)
        expected = [run("circles", "ABNet", (2,), 0.1, k) for k in range(3)]
        assert [replace(r, seconds=0.0) for r in store.results()] == [replace(r, seconds=0.0) for r in expected]


def test_groups_of_other_data_sets_come_after_the_papers() -> None:
    settings = [Setting(name, "ABNet", (2,), 0.1, 0) for name in ("circles", "ads")]
    assert [g.dataset for g in groups_of(settings)] == ["ads", "circles"]
