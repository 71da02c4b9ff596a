"""Trials choose the wide settings that train in full, and are never taken for runs in full."""

from dataclasses import replace
from typing import Any

import pytest

from abnet.paper import MODELS, Result, Setting, select, table1_grid
from abnet.paper.protocol import protocol_of
from abnet.paper.reproduction.race import state_of_race, trials
from abnet.paper.reproduction.selection import choose
from abnet.paper.runs.group_training import run_group
from abnet.paper.runs.run_key import key
from abnet.paper.runs.setting_groups import SettingGroup

WIDE = select(table1_grid(narrow=False), datasets=["adult"])


def finished(trial: Setting, **figures: Any) -> Result:
    return Result(trial, 0.5, 0.5, 0.5, epochs=3, best_epoch=3, seconds=1.0, **figures)


def pretended(trial: Setting) -> Result:
    """The more units the better, and 0.01 is the best rate."""
    figure = {None: 0.0, 0.1: 0.3, 0.01: 0.1, 0.001: 0.2, 0.0001: 0.4}[trial.learning_rate]
    figure += 1e-3 / sum(trial.hidden_layer_sizes)
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


def test_a_trial_is_the_beginning_of_a_longer_one() -> None:
    trial = Setting("circles", "ABNet", (2,), 0.1, 0, trial_epochs=3)
    (short,), (long,) = (run_group(SettingGroup((replace(trial, trial_epochs=n),)), data_dir=None) for n in (3, 5))
    assert (short.epochs, long.epochs, short.setting) == (3, 5, trial)
    assert short.curve["monitored"] == long.curve["monitored"][:4]  # and the look before training


def test_the_best_four_sizes_go_on_with_two_rates_each() -> None:
    stand = state_of_race(WIDE, map(pretended, trials(WIDE)))
    assert (set(stand.trials), stand.undecided) == (set(trials(WIDE)), {})
    best = {(100,) * 3, (100,) * 2, (50,) * 3, (100,)}
    for model in ("PBGNet", "ABNet_l", "BC"):
        chosen = [s for s in stand.going_on if s.model == model]
        assert len(chosen) == 8 * 5
        assert {(s.hidden_layer_sizes, s.learning_rate) for s in chosen} == {
            (b, r) for b in best for r in (0.01, 0.001)
        }
    assert {s.hidden_layer_sizes for s in stand.going_on if s.model == "EBP"} == best
    assert [s for s in WIDE if s in set(stand.going_on)] == stand.going_on


@pytest.mark.parametrize(("model", "figure"), [("PBGNet", "bound"), ("ABNet_l", "validation_loss")])
@pytest.mark.parametrize("value", [float("nan"), None])
def test_a_trial_that_diverged_is_last(model: str, figure: str, value: float | None) -> None:
    diverged = {figure: value, "validation_error": 0.0}
    results = [
        finished(t, **diverged) if t.hidden_layer_sizes == (100, 100, 100) else pretended(t) for t in trials(WIDE)
    ]
    going_on = state_of_race(WIDE, results).going_on
    assert (100, 100, 100) not in {s.hidden_layer_sizes for s in going_on if s.model == model}


def test_ties_go_to_the_smaller_network_and_the_smaller_rate() -> None:
    tied = (finished(t, bound=0.2, validation_loss=0.2, validation_error=0.2) for t in trials(WIDE))
    first = [s for s in state_of_race(WIDE, tied).going_on if s.model == "BC" and s.repetition == 0]
    assert {s.hidden_layer_sizes for s in first} == {(10,), (50,), (100,), (10, 10)}
    assert {s.learning_rate for s in first} == {0.0001}  # there is no lower one


def test_a_cell_is_decided_when_all_its_trials_are_there() -> None:
    narrow = select(table1_grid(wide=False), datasets=["adult"])
    without = [pretended(t) for t in trials(WIDE) if (t.model, t.hidden_layer_sizes) != ("BNN", (10,))]
    stand = state_of_race(narrow + WIDE, without)
    assert stand.undecided == {("adult", "BNN"): 4}
    assert set(narrow) <= set(stand.going_on)
    assert {s.model for s in stand.going_on if s.architecture == "wide"} == {*MODELS} - {"BNN"}


def test_the_leader_goes_on_although_the_trials_missed_it() -> None:
    """The best setting on the first two repetitions is trained on all, and is compared with the chosen ones."""
    cell = [s for s in WIDE if s.model == "BC"]
    missed = [s for s in cell if (s.hidden_layer_sizes, s.learning_rate) == ((10,), 0.1)]
    known = [*map(pretended, trials(cell)), *(finished(s, validation_error=0.01) for s in missed[:2])]
    known += [finished(s, validation_error=0.0) for s in cell if s.learning_rate == 0.0001 and s.repetition == 0]
    going_on = state_of_race(cell, known).going_on
    assert set(missed) < set(going_on)
    assert len(going_on) == 8 * 5 + 5
    done = [finished(s, validation_error=0.05) for s in going_on if s not in missed]
    choice = choose([*known, *done, *(finished(s, validation_error=0.01) for s in missed[2:])])
    assert choice is not None
    assert choice.setting == missed[0]
    assert choice.runs == len(going_on)


def test_a_complete_cell_has_no_trials() -> None:
    done = [finished(s, validation_error=0.1) for s in WIDE if s.model == "BNN"]
    stand = state_of_race(WIDE, done)
    assert "BNN" not in {t.model for t in stand.trials}
    assert [s for s in WIDE if s.model == "BNN"] == stand.going_on


def test_a_trial_is_never_chosen_for_a_run() -> None:
    trial = Setting("adult", "BC", (10,), 0.1, 0, trial_epochs=3)
    assert choose([finished(trial, validation_error=0.0)]) is None
    runs = [finished(replace(trial, trial_epochs=None, repetition=r), validation_error=0.2) for r in range(2)]
    choice = choose([finished(trial, validation_error=0.0), *runs, finished(trial, validation_error=0.0)])
    assert choice is not None
    assert [result.setting.trial_epochs for result in choice.results] == [None, None]
