"""Fewer runs for the wide half: short trials on the first repetition choose the settings that train in full.

In each cell of the table (data set and model) every wide setting trains for a few epochs. The best four sizes go on to
all repetitions, each with its best learning rate and the next lower one, since high rates are often ahead at first. A
trial is the beginning of the run it stands for: the same split, start and minibatches. A cell whose runs are all there
needs no trials.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from abnet.experiments.result import Result
from abnet.experiments.setting import Setting

__all__ = ["Race", "best_of_trials", "best_runs", "race", "trials"]

Cell: TypeAlias = tuple[str, str]

_TRIAL_EPOCHS = {"ads": 20, "adult": 3, "mnistLH": 3}
_OTHERS = 5
_SIZES, _RATES = 4, 2


@dataclass(frozen=True)
class Race:
    """How a race stands.

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


def race(settings: Iterable[Setting], results: Iterable[Result]) -> Race:
    """Return how the race between the wide ones of the settings stands, given the results of runs and trials."""
    settings, done = list(settings), {result.setting: result for result in results}
    cells: dict[Cell, list[Setting]] = {}
    for s in settings:
        if s.architecture == "wide":
            cells.setdefault(_cell(s), []).append(s)
    complete = {cell for cell, members in cells.items() if all(s in done for s in members)}
    short = {cell: trials(members) for cell, members in cells.items() if cell not in complete}
    missing = {cell: sum(trial not in done for trial in of) for cell, of in short.items()}
    best = {trial for cell, of in short.items() if not missing[cell] for trial in best_of_trials(done[t] for t in of)}
    return Race(
        trials=[trial for of in short.values() for trial in of],
        going_on=[s for s in settings if s.architecture == "narrow" or _cell(s) in complete or _trial(s) in best],
        undecided={cell: count for cell, count in missing.items() if count},
    )


def trials(settings: Iterable[Setting]) -> list[Setting]:
    """Return the trials that stand for the wide ones of the settings; narrow ones have none.

    20 epochs for ads, 3 for adult and mnistLH, 5 for the others: 1,500 to 2,500 minibatches of ABNet and PBGNet.

    Examples
    --------
    >>> trials([Setting("ads", "BC", (10,), 0.1, 2), Setting("ads", "BC", (8,), 0.1, 2)])
    [Setting(dataset='ads', model='BC', hidden_layer_sizes=(10,), learning_rate=0.1, repetition=0, trial_epochs=20)]
    """
    return list(dict.fromkeys(_trial(s) for s in settings if s.architecture == "wide"))


def best_of_trials(results: Iterable[Result]) -> list[Setting]:
    """Return the trials of one cell whose settings go on.

    Ranked by the bound for PBGNet and ABNet, by the validation loss for their versions without it, by the validation
    error for the others; a tie goes to fewer hidden layers, then fewer units, then the smaller learning rate.
    """
    ranked = [result.setting for result in sorted(results, key=_rank)]
    rates = sorted({s.learning_rate or 0.0 for s in ranked}, reverse=True)
    chosen = []
    for sizes in list(dict.fromkeys(s.hidden_layer_sizes for s in ranked))[:_SIZES]:
        of_size = {s.learning_rate or 0.0: s for s in ranked if s.hidden_layer_sizes == sizes}
        first = rates.index(next(iter(of_size)))
        chosen += [of_size[rate] for rate in rates[first : first + _RATES] if rate in of_size]
    return chosen


def best_runs(runs: Iterable[Result], short: Iterable[Result]) -> list[Result]:
    """Return those of a cell's runs whose settings its trials let go on."""
    best = {replace(setting, trial_epochs=None) for setting in best_of_trials(short)}
    return [run for run in runs if replace(run.setting, repetition=0) in best]


def _cell(setting: Setting) -> Cell:
    return setting.dataset, setting.model


def _trial(setting: Setting) -> Setting:
    return replace(setting, repetition=0, trial_epochs=_TRIAL_EPOCHS.get(setting.dataset, _OTHERS))


def _rank(result: Result) -> tuple[float, int, int, float]:
    s = result.setting
    value = result.validation_loss if s.model.endswith("_l") else result.score  # an error rate has many ties
    value = math.inf if value is None or math.isnan(value) else round(value, 6)
    return value, s.hidden_layers, s.width, s.learning_rate or 0.0
