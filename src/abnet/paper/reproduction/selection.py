"""Selection of the settings that are reported in tables and figures.

A *cell* holds the settings that compete with one another. Not all of their repetitions may be there yet, so the rule
says which ones are compared: r repetitions, those numbered 0 to r - 1, of all the settings that have them, with the r
that uses the most runs (the largest such r). Complete sweeps use everything; a sweep in progress neither drops
repetitions for a setting that has only begun, nor settings for a repetition that has only begun. Where trials
(`race.py`) have chosen among the settings, the chosen ones are compared, if they have more repetitions. The figures of
the selected setting are means over all of its repetitions, which may be more than were compared.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TypeAlias, TypeVar

from abnet.paper.reproduction.race import runs_in_race
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting

__all__ = ["Selected", "by_cell", "choose", "deviation", "mean"]

_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True)
class Selected:
    """The chosen setting.

    Attributes
    ----------
    results
        Its results, one for each repetition from the first one on.
    runs
        The number of runs that were compared.
    compared
        The number of repetitions of each setting that were compared.
    """

    results: tuple[Result, ...]
    runs: int
    compared: int

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
    runs = []
    trials = []
    for result in results:
        if result.setting.trial_epochs is None:
            runs.append(result)
        else:
            trials.append(result)
    among_all = _best(runs)
    if not trials:
        return among_all
    in_race = _best(runs_in_race(runs, trials))
    if among_all is None or in_race is None:
        return among_all
    if in_race.compared > among_all.compared:
        return in_race
    return among_all


_SizesAndRate: TypeAlias = tuple[tuple[int, ...], float]


def _best(runs: Iterable[Result]) -> Selected | None:
    candidates: dict[_SizesAndRate, dict[int, Result]] = {}
    for run in runs:
        setting = run.setting
        name = (setting.hidden_layer_sizes, setting.learning_rate or 0.0)
        candidates.setdefault(name, {})[setting.repetition] = run
    n_repetitions = _compared_repetitions([set(by_repetition) for by_repetition in candidates.values()])
    if n_repetitions == 0:
        return None
    compared: dict[_SizesAndRate, list[Result]] = {}
    for name, by_repetition in candidates.items():
        if _has_first(n_repetitions, by_repetition):
            compared[name] = [by_repetition[repetition] for repetition in range(n_repetitions)]

    def score(name: _SizesAndRate) -> float:
        return round(fmean(run.score for run in compared[name]), 6)

    def rank(name: _SizesAndRate) -> tuple[float, int, int, float]:
        sizes, rate = name
        return score(name), len(sizes), max(sizes, default=0), rate

    best = min(compared, key=rank)
    if math.isinf(score(best)):
        return None
    return Selected(
        results=_from_the_first_on(candidates[best]), runs=n_repetitions * len(compared), compared=n_repetitions
    )


def _from_the_first_on(by_repetition: dict[int, Result]) -> tuple[Result, ...]:
    """The results of repetitions 0, 1, … up to the first that is missing."""
    results: list[Result] = []
    while len(results) in by_repetition:
        results.append(by_repetition[len(results)])
    return tuple(results)


def _compared_repetitions(finished: Sequence[Collection[int]]) -> int:
    """The r that maximises r × (number of settings with repetitions 0 … r - 1), the largest on a tie; 0 if none has."""
    best = 0
    most_runs = 0
    largest = max((len(repetitions) for repetitions in finished), default=0)
    for r in range(1, largest + 1):
        n_runs = r * sum(_has_first(r, repetitions) for repetitions in finished)
        if n_runs > 0 and n_runs >= most_runs:
            best = r
            most_runs = n_runs
    return best


def _has_first(r: int, repetitions: Collection[int]) -> bool:
    """Whether the repetitions 0 … r - 1 are there."""
    return all(repetition in repetitions for repetition in range(r))


def mean(results: Sequence[Result], name: str) -> float | None:
    """Return the mean of a figure over repetitions; None if one of them does not have it."""
    values = [getattr(result, name) for result in results]
    if None in values:
        return None
    return fmean(values)


def deviation(results: Sequence[Result], name: str) -> float | None:
    """Return the sample standard deviation, Σ(x - x̄)²/(r - 1) under the root; None for a single repetition.

    The paper does not say which one it reports. With 5 repetitions the population form is smaller by the factor 0.89.
    """
    values = [getattr(result, name) for result in results]
    if None in values or len(values) < 2:
        return None
    return stdev(values)
