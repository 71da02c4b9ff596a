"""Choosing the setting that a row of the table or a point of a figure reports.

A *cell* holds the settings that compete with one another. Not all of their repetitions may be there yet, so the rule
says which ones are compared: r repetitions, those numbered 0 to r - 1, of all the settings that have them, with the r
that uses the most runs (the largest such r). Complete sweeps use everything; a sweep in progress neither drops
repetitions for a setting that has only begun, nor settings for a repetition that has only begun. Where trials have
chosen among the settings (`abnet.experiments.race`), the chosen ones are compared, if they have more repetitions.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TypeVar

from abnet.experiments.protocol import NUMERICS_VERSION, definition
from abnet.experiments.race import best_runs
from abnet.experiments.result import Result
from abnet.experiments.setting import Setting
from abnet.experiments.store import StoredRun

__all__ = ["Selected", "by_cell", "choose", "current_results", "current_runs", "deviation", "mean"]

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


def current_runs(runs: Iterable[StoredRun], *, numerics_version: int = NUMERICS_VERSION) -> list[StoredRun]:
    """Return the finished runs of this protocol and version of the numerics, from one version of each data set.

    Where runs from several versions of a data set are stored, those of the version of the newest run count.
    """
    current = [run for run in runs if run.result is not None and _is_current(run, numerics_version)]
    newest = {run.setting.dataset: run.fingerprint for run in sorted(current, key=lambda run: run.created)}
    return [run for run in current if run.fingerprint == newest[run.setting.dataset]]


def current_results(runs: Iterable[StoredRun], *, numerics_version: int = NUMERICS_VERSION) -> list[Result]:
    """Return the results of the `current_runs`, trials included."""
    return [run.result for run in current_runs(runs, numerics_version=numerics_version) if run.result is not None]


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


def _is_current(run: StoredRun, numerics_version: int) -> bool:
    defined = definition(run.setting, run.fingerprint, numerics_version)
    return _plain(defined) == {name: run.provenance.get(name) for name in defined}


def _plain(value: object) -> object:
    """The value as JSON reads it back: tuples become lists."""
    if isinstance(value, Mapping):
        return {name: _plain(of) for name, of in value.items()}
    return [_plain(of) for of in value] if isinstance(value, (tuple, list)) else value
