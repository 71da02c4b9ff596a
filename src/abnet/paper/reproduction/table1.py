"""`abnet reproduce table1`: train the missing runs of Table 1, and compare the table with the paper's."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.protocol import DATASETS, REPETITIONS
from abnet.paper.reproduction.grids import select, table1_grid, without_variant
from abnet.paper.reproduction.race import state_of_race, trials
from abnet.paper.reproduction.reproduced import Reproduced, StrPath, check_names, stored_results
from abnet.paper.reproduction.results_folder import add_note, write_file
from abnet.paper.reproduction.table1_comparison import TableComparison, compare
from abnet.paper.reproduction.table1_display import to_markdown
from abnet.paper.reproduction.table1_rows import procedure_rows, table1_rows, table1_to_csv
from abnet.paper.runs.run_setting import Setting
from abnet.paper.runs.run_store import RunStore
from abnet.paper.runs.sweeping import sweep

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["status", "table1"]


def table1(
    store: StrPath = "runs.sqlite",
    *,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    repetitions: int = REPETITIONS,
    race: bool = False,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list[TableComparison]]:
    """Train the missing runs of Table 1, and compare the table with the paper's.

    Parameters
    ----------
    store
        SQLite file of the runs; a sweep continues from it.
    datasets, models, widths, repetitions
        The part of the grid; all of it by default. Data sets outside the paper may be named, such as "circles".
    race
        Whether short trials select the wide settings that are trained in full.
    train
        Whether to train missing runs; otherwise the table is made from the runs in the store.
    jobs, client, data_dir, verbose
        As for `abnet.paper.sweep`.
    output_dir
        Folder for `table1.csv`, `table1.md` and `table1_procedures.csv`; by default nothing is written.

    Returns
    -------
    Reproduced
        Its data are `TableComparison` records, each with a row of ours and the paper's.
    """
    settings = _part_of_table1(datasets, models, widths, repetitions)
    failures: dict[str, str] = {}

    def train_missing(part: Sequence[Setting]) -> None:
        report = sweep(part, runs, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose)
        failures.update(report.failures)

    with RunStore(store, create=train) as runs:
        if train and race:
            train_missing(state_of_race(settings, runs.results()).trials)
            train_missing(state_of_race(settings, runs.results()).going_on)
        elif train:
            train_missing(settings)
        results = stored_results(runs, [*settings, *without_variant(settings), *trials(settings)])
    rows = table1_rows(results)
    comparisons = compare(rows)
    if output_dir is None:
        return Reproduced(comparisons, failures=failures)
    folder = Path(output_dir)
    files = [
        write_file(folder / "table1.csv", table1_to_csv(rows)),
        write_file(folder / "table1.md", "# Table 1, ours beside the paper's\n\n" + to_markdown(comparisons)),
        write_file(folder / "table1_procedures.csv", table1_to_csv(procedure_rows(results))),
    ]
    options = {"datasets": datasets, "models": models, "widths": widths, "repetitions": repetitions, "race": race}
    n_runs = sum(row.runs or 0 for row in rows)
    text = (
        f"`table1.csv`, `table1.md`: {len(rows)} rows of the paper's 84, selected among {n_runs:,} runs. Its column "
        "`bound` is an estimate. `table1_procedures.csv`: the rows for which there are runs of a variant, by the "
        "protocol without changes and by the variant."
    )
    add_note(folder, "table1", options, text)
    return Reproduced(comparisons, files, failures)


def status(
    store: StrPath = "runs.sqlite",
    *,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    repetitions: int = REPETITIONS,
    race: bool = False,
) -> dict[tuple[str, str, int], tuple[int, int]]:
    """Return how many runs of Table 1 are done, and how many there are, by data set, model and width.

    With `race`, those of a race: its trials, then the settings that are trained in full.
    """
    settings = _part_of_table1(datasets, models, widths, repetitions)
    with RunStore(store, create=False) as runs:
        results = runs.results()
    if race:
        state = state_of_race(settings, results)
        settings = state.trials + state.going_on
    trained = {result.setting for result in results}
    cells: dict[tuple[str, str, int], list[Setting]] = {}
    for setting in settings:
        cells.setdefault((setting.dataset, setting.model, setting.width), []).append(setting)
    return {cell: (len(trained.intersection(members)), len(members)) for cell, members in cells.items()}


def _part_of_table1(
    datasets: Sequence[str] | None, models: Sequence[str] | None, widths: Sequence[int] | None, repetitions: int
) -> list[Setting]:
    """The named part of Table 1's grid; data sets outside the paper's may be named."""
    from abnet.paper.data.datasets import names

    check_names("datasets", datasets, names())
    grid = table1_grid(datasets=datasets or DATASETS)
    return select(grid, models=models, widths=widths, repetitions=repetitions)
