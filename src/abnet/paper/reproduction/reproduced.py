"""What a command of `abnet reproduce` returns, and the steps that the commands share."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting
from abnet.paper.runs.run_store import RunStore
from abnet.paper.runs.sweeping import sweep
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Reproduced", "StrPath", "check_names", "stored_results", "train_missing_runs"]

StrPath: TypeAlias = str | os.PathLike[str]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Reproduced(Generic[_T]):
    """A part of the paper, reproduced.

    Attributes
    ----------
    data
        The rows of the table or the points of the figure.
    files
        The files that were written.
    failures
        The error of each group of runs that failed, by the name of the group; the next call tries it again.
    """

    data: _T
    files: list[Path] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)


def train_missing_runs(
    store: StrPath,
    settings: Sequence[Setting],
    *,
    shown: Sequence[Setting] | None = None,
    train: bool,
    jobs: int,
    client: "Client | None",
    data_dir: StrPath | None,
    verbose: bool,
) -> tuple[list[Result], dict[str, str]]:
    """Train the settings that the store lacks, unless `train` is False; return stored results, and the failures.

    The results are those of the settings in `shown`, by default of the settings that are trained. The other parameters
    are those of `abnet.paper.table1`.
    """
    failures: dict[str, str] = {}
    with RunStore(store, create=train) as runs:
        if train:
            report = sweep(settings, runs, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose)
            failures = report.failures
        return stored_results(runs, shown or settings), failures


def stored_results(store: RunStore, settings: Sequence[Setting]) -> list[Result]:
    """Return the results of these settings that are in the store; raise ValueError if there are none."""
    wanted = set(settings)
    results = [result for result in store.results() if result.setting in wanted]
    if not results:
        raise ValueError(f"no run of this part of the grid is in {store.path}")
    return results


def check_names(parameter: str, names: Sequence[str] | None, known: Collection[str]) -> list[str]:
    """Return the names, or all known ones for None; raise ParameterError if one is unknown."""
    if names is None:
        return list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ParameterError(
            "{}: there is no {}; there are {}", Parameter(parameter), ", ".join(unknown), ", ".join(known)
        )
    return list(names)
