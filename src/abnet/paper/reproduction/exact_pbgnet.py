"""`abnet reproduce exact`: train wide PBGNet with exact outputs at the settings that Table 1 reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduction.reproduced import Reproduced, StrPath, check_names, train_missing_runs
from abnet.paper.reproduction.results_folder import add_note, reproduced_rows, write_file

if TYPE_CHECKING:
    from distributed import Client

    from abnet.paper.reproduction.exact_rows import ExactRow

__all__ = ["exact_pbgnet"]


def exact_pbgnet(
    store: StrPath = "runs.sqlite",
    *,
    datasets: Sequence[str] | None = None,
    repetitions: int = REPETITIONS,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath = "results",
    verbose: bool = False,
) -> Reproduced[list["ExactRow"]]:
    """Train wide PBGNet with exact expected outputs at the settings that Table 1 reports, instead of sampling them.

    Parameters
    ----------
    output_dir
        Folder with `table1.csv`, which names the settings; `table1_exact.csv` is written there.
    store, datasets, repetitions, train, jobs, client, data_dir, verbose
        As for `table1`.
    """
    from abnet.paper.data.datasets import names
    from abnet.paper.reproduction.exact_rows import exact_rows, exact_settings, exact_to_csv

    folder = Path(output_dir)
    table1 = reproduced_rows(folder)
    named = check_names("datasets", datasets, names())
    settings = [s for s in exact_settings(table1, repetitions) if s.dataset in named]
    results, failures = train_missing_runs(
        store, settings, train=train, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose
    )
    rows = exact_rows(table1, results)
    files = [write_file(folder / "table1_exact.csv", exact_to_csv(rows))]
    text = (
        f"`table1_exact.csv`: wide PBGNet at the {len(rows)} settings that `table1.csv` reports, trained and measured "
        "with exact expected outputs. Seeds are those of Table 1. `sampled_bound` and `sampled_test_error` are Table "
        "1's. `bound` is an estimate."
    )
    add_note(folder, "exact", {"datasets": datasets, "repetitions": repetitions}, text)
    return Reproduced(rows, files, failures)
