"""The race: short trials select which wide settings are trained in full.

In each cell of the table (data set and model) every wide setting trains for a few epochs on the first repetition. The
best four sizes are trained on all repetitions, each with its best learning rate and the next lower one, since high
rates are often ahead at first. So is the leader, the best setting on the first two repetitions among all that have
them: some settings were trained in full before the race, and trials can miss the best of them. A trial is the beginning
of the run it stands for: the same split, start and minibatches. A cell whose runs are all there needs no trials.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting

__all__ = ["Race", "best_of_trials", "leaders", "runs_in_race", "state_of_race", "trials"]

Cell: TypeAlias = tuple[str, str]

_EPOCHS = {"ads": 20, "adult": 3, "mnistLH": 3}
_EPOCHS_ELSEWHERE = 5
_N_BEST_SIZES = 4
_N_RATES = 2
_LEADING_REPETITIONS = 2
"""Repetitions on which settings are compared that were trained in full, in the race or before it."""


@dataclass(frozen=True)
class Race:
    """State of a race between the wide settings.

    Attributes
    ----------
    trials
        The trials of all cells that need them, finished or not.
    going_on
        Settings to train in full: narrow ones, those of complete cells, and the chosen ones of the decided cells.
    undecided
        Cells with trials that are not there, and how many.
    """

    trials: list[Setting]
    going_on: list[Setting]
    undecided: dict[Cell, int]


def state_of_race(settings: Iterable[Setting], results: Iterable[Result]) -> Race:
    """Return the state of the race between the wide settings, given the results of runs and trials."""
    settings = list(settings)
    finished = {result.setting: result for result in results}
    complete_cells: set[Cell] = set()
    needed_trials: list[Setting] = []
    chosen: set[Setting] = set()
    undecided: dict[Cell, int] = {}
    for cell, members in _wide_cells(settings).items():
        if all(setting in finished for setting in members):
            complete_cells.add(cell)
            continue
        trials_of_cell = trials(members)
        needed_trials += trials_of_cell
        n_missing = sum(trial not in finished for trial in trials_of_cell)
        if n_missing:
            undecided[cell] = n_missing
        else:
            chosen.update(best_of_trials(finished[trial] for trial in trials_of_cell))
            chosen.update(map(_trial_of, leaders(finished[setting] for setting in members if setting in finished)))

    def goes_on(setting: Setting) -> bool:
        return setting.architecture == "narrow" or _cell(setting) in complete_cells or _trial_of(setting) in chosen

    going_on = [setting for setting in settings if goes_on(setting)]
    return Race(trials=needed_trials, going_on=going_on, undecided=undecided)


def trials(settings: Iterable[Setting]) -> list[Setting]:
    """Return the trials that stand for the wide ones of the settings; narrow ones have none.

    20 epochs for ads, 3 for adult and mnistLH, 5 for the others: 1,500 to 2,500 minibatches of ABNet and PBGNet.

    Examples
    --------
    >>> trials([Setting("ads", "BC", (10,), 0.1, 2), Setting("ads", "BC", (8,), 0.1, 2)])
    [Setting(dataset='ads', model='BC', hidden_layer_sizes=(10,), learning_rate=0.1, repetition=0, trial_epochs=20,
     variant=None)]
    """
    return list(dict.fromkeys(_trial_of(setting) for setting in settings if setting.architecture == "wide"))


def best_of_trials(results: Iterable[Result]) -> list[Setting]:
    """Return the trials of one cell whose settings are trained in full.

    Ranked by the bound for PBGNet and ABNet, by the validation loss for their versions without it, by the validation
    error for the others; a tie goes to fewer hidden layers, then fewer units, then the smaller learning rate.
    """
    ranked = [result.setting for result in sorted(results, key=_rank)]
    all_rates = sorted({_rate(setting) for setting in ranked}, reverse=True)
    best_sizes = list(dict.fromkeys(setting.hidden_layer_sizes for setting in ranked))[:_N_BEST_SIZES]
    chosen = []
    for sizes in best_sizes:
        by_rate = {_rate(setting): setting for setting in ranked if setting.hidden_layer_sizes == sizes}
        best_rate = next(iter(by_rate))  # settings are ranked
        place = all_rates.index(best_rate)
        chosen += [by_rate[rate] for rate in all_rates[place : place + _N_RATES] if rate in by_rate]
    return chosen


def leaders(runs: Iterable[Result]) -> list[Setting]:
    """Return the best setting of a cell on the first two repetitions, at its first one; none if no setting has both.

    Ranked by `Result.score`, the bound or the validation error; ties go as for trials.
    """
    first_runs: dict[Setting, list[Result]] = {}
    for run in runs:
        if run.setting.repetition < _LEADING_REPETITIONS and run.setting.trial_epochs is None:
            first_runs.setdefault(replace(run.setting, repetition=0), []).append(run)
    compared = [setting for setting, of_setting in first_runs.items() if len(of_setting) == _LEADING_REPETITIONS]

    def rank(setting: Setting) -> tuple[float, int, int, float]:
        score = fmean(run.score for run in first_runs[setting])
        return round(score, 6), setting.hidden_layers, setting.width, _rate(setting)

    return sorted(compared, key=rank)[:1]


def runs_in_race(runs: Sequence[Result], trial_results: Iterable[Result]) -> list[Result]:
    """Return the runs of a cell whose settings were selected by its trials, and those of its leader."""
    selected = {replace(trial, trial_epochs=None) for trial in best_of_trials(trial_results)}
    selected.update(leaders(runs))
    return [run for run in runs if replace(run.setting, repetition=0) in selected]


def _wide_cells(settings: Iterable[Setting]) -> dict[Cell, list[Setting]]:
    cells: dict[Cell, list[Setting]] = {}
    for setting in settings:
        if setting.architecture == "wide":
            cells.setdefault(_cell(setting), []).append(setting)
    return cells


def _cell(setting: Setting) -> Cell:
    return setting.dataset, setting.model


def _trial_of(setting: Setting) -> Setting:
    return replace(setting, repetition=0, trial_epochs=_EPOCHS.get(setting.dataset, _EPOCHS_ELSEWHERE))


def _rate(setting: Setting) -> float:
    return setting.learning_rate or 0.0


def _rank(result: Result) -> tuple[float, int, int, float]:
    setting = result.setting
    if setting.model.endswith("_l"):
        value = result.validation_loss  # an error rate has many ties
    else:
        value = result.score
    if value is None or math.isnan(value):
        value = math.inf
    return round(value, 6), setting.hidden_layers, setting.width, _rate(setting)
