"""Trials choose the wide settings that train in full, and are never taken for runs in full."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abnet.experiments import Result, RunStore, Setting, groups_of, key, select, table1_grid
from abnet.experiments.exchange import export_runs, import_runs
from abnet.experiments.protocol import protocol_of
from abnet.experiments.race import finalists, trials
from abnet.experiments.selection import current_results
from abnet.experiments.training import run_group

WIDE = select(table1_grid(narrow=False), datasets=["adult"])


def finished(trial: Setting, **figures: Any) -> Result:
    return Result(trial, 0.5, 0.5, 0.5, epochs=3, best_epoch=3, seconds=1.0, **figures)


def pretended(trial: Setting) -> Result:
    """The more units and the lower the rate, the better."""
    figure = (trial.learning_rate or 0.0) + 1 / sum(trial.hidden_layer_sizes)
    if trial.model in ("PBGNet", "ABNet"):
        return finished(trial, bound=figure, validation_loss=-figure)
    if trial.model.endswith("_l"):
        return finished(trial, validation_loss=figure, validation_error=0.25, bound=-figure)
    return finished(trial, validation_error=figure)


def test_every_wide_setting_has_one_short_trial_on_the_first_repetition() -> None:
    short = trials(WIDE)
    assert len(short) == len(WIDE) / 5 == 6 * 36 + 9
    assert {(s.repetition, s.trial_epochs) for s in short} == {(0, 3)}
    assert {replace(s, trial_epochs=None) for s in short} == {s for s in WIDE if s.repetition == 0}
    assert trials(table1_grid(wide=False)) == []


def test_a_trial_differs_from_its_run_in_length_and_evaluations_only() -> None:
    for trial in trials(select(table1_grid(narrow=False), datasets=["ads", "mnist17"])):
        whole, short = (protocol_of(s) for s in (replace(trial, trial_epochs=None), trial))
        assert short.max_epochs == {"ads": 20, "mnist17": 5}[trial.dataset] == trial.trial_epochs
        assert short.n_evaluations == (None if whole.n_evaluations is None else 1)
        assert replace(short, max_epochs=100, n_evaluations=whole.n_evaluations) == whole
        assert key(trial, "f") != key(replace(trial, trial_epochs=None), "f")


def test_a_trial_is_the_beginning_of_its_run() -> None:
    for model, rate in (("ABNet", 0.1), ("BC", 0.01)):
        whole = Setting("circles", model, (10, 10), rate, 0)
        trial = replace(whole, trial_epochs=3)
        (short,), (long,) = (run_group(g, data_dir=None) for g in groups_of([trial]) + groups_of([whole]))
        assert (short.epochs, short.setting) == (3, trial)
        assert short.curve["monitored"] == long.curve["monitored"][:4]  # and the look before training


def test_the_best_sixth_goes_on_in_every_cell() -> None:
    going_on = finalists(WIDE, map(pretended, trials(WIDE)))
    for model in ("PBGNet", "ABNet_l", "BC"):
        chosen = [s for s in going_on if s.model == model]
        assert len(chosen) == 6 * 5
        assert {(s.hidden_layer_sizes, s.learning_rate) for s in chosen} == {
            ((100, 100, 100), 0.0001), ((100, 100, 100), 0.001), ((100, 100), 0.0001), ((100, 100), 0.001),
            ((50, 50, 50), 0.0001), ((50, 50, 50), 0.001),
        }  # fmt: skip
    assert {s.hidden_layer_sizes for s in going_on if s.model == "EBP"} == {(100,) * 3, (100,) * 2, (50,) * 3}
    assert [s for s in WIDE if s in set(going_on)] == going_on


def test_a_trial_that_diverged_is_last() -> None:
    results = [
        finished(t, bound=float("nan")) if t.hidden_layer_sizes == (100, 100, 100) else pretended(t)
        for t in trials(WIDE)
    ]
    assert (100, 100, 100) not in {s.hidden_layer_sizes for s in finalists(WIDE, results) if s.model == "PBGNet"}


def test_narrow_settings_need_no_trial_and_wide_ones_do() -> None:
    narrow = select(table1_grid(wide=False), datasets=["adult"])
    assert finalists(narrow, []) == narrow
    with pytest.raises(ValueError, match="225 of 225 trials have not been run"):
        finalists(narrow + WIDE, [])


def test_trials_are_stored_and_published_apart_from_runs(tmp_path: Path) -> None:
    trial = Setting("adult", "BC", (10,), 0.1, 0, trial_epochs=3)
    whole = replace(trial, trial_epochs=None)
    results = [finished(trial, validation_error=0.1), replace(finished(whole, validation_error=0.2), test_error=0.3)]
    with RunStore(tmp_path / "runs.sqlite") as store, RunStore(tmp_path / "copy.sqlite") as copy:
        store.add(results, {"adult": "f"}, machine={})
        import_runs(export_runs(store.runs()), copy)
        for runs in (store.runs(), copy.runs()):
            assert [r.setting for r in current_results(runs)] == [whole]
            assert [(r.setting, r.validation_error) for r in current_results(runs, trials=True)] == [(trial, 0.1)]
