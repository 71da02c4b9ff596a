"""Selection of settings: those reported in tables and figures, and those that trials select for full training.

A *cell* holds the settings that compete with one another. Not all of their repetitions may be there yet, so the rule
says which ones are compared: r repetitions, those numbered 0 to r - 1, of all the settings that have them, with the r
that uses the most runs (the largest such r). Complete sweeps use everything; a sweep in progress neither drops
repetitions for a setting that has only begun, nor settings for a repetition that has only begun. Where trials have
chosen among the settings, the chosen ones are compared, if they have more repetitions.

*Trials* save runs in the wide half. In each cell of the table (data set and model) every wide setting trains for a few
epochs on the first repetition. The best four sizes go on to all repetitions, each with its best learning rate and the
next lower one, since high rates are often ahead at first. A trial is the beginning of the run it stands for: the same
split, start and minibatches. A cell whose runs are all there needs no trials.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TypeAlias, TypeVar

from abnet.paper.run_result import Result
from abnet.paper.run_setting import Setting

__all__ = [
    "Race",
    "Selected",
    "best_of_trials",
    "best_runs",
    "by_cell",
    "choose",
    "deviation",
    "mean",
    "race",
    "trials",
]

_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True)
class Selected:
    """The chosen setting's results, one for each repetition, and the number of runs that were compared."""

    results: tuple[Result, ...]
    runs: int

    @property
    def setting(self) -> Setting:
        """The chosen setting, at its first repetition."""
        return self.results[0].setting


def by_cell(results: Iterable[Result], cell: Callable[[Setting], _K]) -> dict[_K, list[Result]]:
    """Gather results by the cell that their settings belong to."""
    cells: dict[_K, list[Result]] = {}
    for result in results:
        cells.setdefault(cell(result.setting), []).append(result)
    return cells


def choose(results: Iterable[Result]) -> Selected | None:
    """Return the setting with the best mean score over the repetitions that are compared; None if there is none.

    Trials among the results are not runs: they only say which runs are compared.

    The score is the bound for PBGNet and ABNet and the validation error for the others (`Result.score`). A tie goes to
    fewer hidden layers, then fewer units, then the smaller learning rate; scores that differ by less than a millionth
    are a tie. A setting with a repetition that has no score is never chosen.
    """
    results = list(results)
    whole = [result for result in results if result.setting.trial_epochs is None]
    short = [result for result in results if result.setting.trial_epochs is not None]
    among_all, among_best = _best(whole), _best(best_runs(whole, short))
    if among_all is None or among_best is None or len(among_best.results) <= len(among_all.results):
        return among_all
    return among_best


def _best(results: Iterable[Result]) -> Selected | None:
    candidates: dict[tuple[tuple[int, ...], float], dict[int, Result]] = {}
    for result in results:
        s = result.setting
        candidates.setdefault((s.hidden_layer_sizes, s.learning_rate or 0.0), {})[s.repetition] = result
    r = _compared_repetitions([set(of) for of in candidates.values()])
    compared = {name: [of[k] for k in range(r)] for name, of in candidates.items() if set(range(r)) <= set(of)}
    if r == 0:
        return None

    def rank(name: tuple[tuple[int, ...], float]) -> tuple[float, int, int, float]:
        sizes, rate = name
        return round(fmean(result.score for result in compared[name]), 6), len(sizes), max(sizes), rate

    best = min(compared, key=rank)
    return None if math.isinf(rank(best)[0]) else Selected(tuple(compared[best]), r * len(compared))


def mean(results: Sequence[Result], name: str) -> float | None:
    """Return the mean of a figure over repetitions; None if one of them does not have it."""
    values = [getattr(result, name) for result in results]
    return None if None in values else fmean(values)


def deviation(results: Sequence[Result], name: str) -> float | None:
    """Return the sample standard deviation, Σ(x - x̄)²/(r - 1) under the root; None for a single repetition.

    The paper does not say which one it reports. With 5 repetitions the population form is smaller by the factor 0.89.
    """
    values = [getattr(result, name) for result in results]
    return None if None in values or len(values) < 2 else stdev(values)


def _compared_repetitions(finished: Sequence[Collection[int]]) -> int:
    """The r that maximises r × (number of settings with repetitions 0 … r - 1), the largest on a tie."""
    most = max((len(of) for of in finished), default=0)
    used = {r: r * sum(set(range(r)) <= set(of) for of in finished) for r in range(most + 1)}
    r = max(used, key=lambda r: (used[r], r))
    return r if used[r] else 0


# Trials

Cell: TypeAlias = tuple[str, str]

_TRIAL_EPOCHS = {"ads": 20, "adult": 3, "mnistLH": 3}
_OTHERS = 5
_SIZES, _RATES = 4, 2


@dataclass(frozen=True)
class Race:
    """State of a race.

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
    """Return the state of the race between the wide settings, given the results of runs and trials."""
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
    [Setting(dataset='ads', model='BC', hidden_layer_sizes=(10,), learning_rate=0.1, repetition=0, trial_epochs=20,
     variant=None)]
    """
    return list(dict.fromkeys(_trial(s) for s in settings if s.architecture == "wide"))


def best_of_trials(results: Iterable[Result]) -> list[Setting]:
    """Return the trials of one cell whose settings are trained in full.

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
    """Return the runs of a cell whose settings were selected by its trials."""
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
