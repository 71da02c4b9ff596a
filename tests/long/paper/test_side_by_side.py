"""Settings that train side by side give the networks of one-by-one training."""

from typing import Any

import pytest

from abnet.paper import Result
from abnet.paper.runs import group_training
from abnet.paper.runs.group_training import run_group
from abnet.training.runner import Stack
from paper.short_groups import few_epochs, group  # noqa: F401 a fixture

pytestmark = pytest.mark.usefixtures("few_epochs")


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
    monkeypatch.setattr(group_training, "SHRINK_FROM", 0)
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


def test_one_hidden_layer_is_trained_once_for_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    both = group((2,), ("PBGNet", "ABNet"))
    results = run_group(both, data_dir=None)
    assert [r.setting for r in results] == list(both.settings)
    monkeypatch.setattr(group_training, "_trained_as", lambda setting: setting)
    for copied, trained in zip(results, run_group(both, data_dir=None), strict=True):
        close(copied, trained)
        assert copied.kl == pytest.approx(trained.kl, rel=1e-4)
