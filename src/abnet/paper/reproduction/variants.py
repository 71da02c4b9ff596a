"""`abnet reproduce variants`: train the variants of narrow PBGNet and ABNet, and compare them with Table 1."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduction.reproduced import Reproduced, StrPath, check_names, train_missing_runs
from abnet.paper.reproduction.results_folder import add_note, reproduced_rows, write_file
from abnet.paper.reproduction.table1_rows import paper_table

if TYPE_CHECKING:
    from distributed import Client

    from abnet.paper.reproduction.variant_rows import VariantRow

__all__ = ["variants"]


def variants(
    store: StrPath = "runs.sqlite",
    *,
    names: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    repetitions: int = REPETITIONS,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list["VariantRow"]]:
    """Train the missing runs of the variants of narrow PBGNet and ABNet, and compare them with Table 1.

    Parameters
    ----------
    names
        Names in `abnet.paper.reproduction.variant_rows.BEYOND_THE_PAPER`; all by default.
    output_dir
        Folder for `table1_variants.csv` and the figure `table1_variants`; the reproduction is read from its
        `table1.csv`. By default nothing is written.
    store, datasets, repetitions, train, jobs, client, data_dir, verbose
        As for `table1`.
    """
    from abnet.paper.data.datasets import names as known_datasets
    from abnet.paper.reproduction.variant_display import variant_figure
    from abnet.paper.reproduction.variant_rows import (
        BEYOND_THE_PAPER,
        SIZES,
        variant_grid,
        variant_rows,
        variants_to_csv,
    )
    from abnet.utils.plots import save_figure

    settings = variant_grid(
        variants=check_names("names", names, BEYOND_THE_PAPER),
        datasets=check_names("datasets", datasets or list(SIZES), known_datasets()),
        repetitions=repetitions,
    )
    results, failures = train_missing_runs(
        store, settings, train=train, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose
    )
    rows = variant_rows(results)
    if output_dir is None:
        return Reproduced(rows, failures=failures)
    folder = Path(output_dir)
    files = [write_file(folder / "table1_variants.csv", variants_to_csv(rows))]
    files += save_figure(variant_figure(rows, reproduced_rows(folder), paper_table()), folder / "table1_variants")
    text = (
        f"`table1_variants.csv`, `.png`, `.svg`: {len(rows)} rows from {sum(row.runs for row in rows)} runs. "
        "Variants of narrow PBGNet and ABNet on a part of the paper's grid: `warm-up` "
        "trains two epochs on the linear loss before the bound, `deviations` learns one standard deviation for each "
        "layer, `both` does both, `restarts` does both from four initialisations and keeps the one with the lowest "
        "bound, each computed at δ/4. `small` has a prior of half the scale and learned deviations, with and "
        "without a hidden layer, and `surround` is its linear network on centre-surround images; their bounds are "
        "computed at δ/3, which pays for the choice among their priors. Seeds are those of Table 1: the number of "
        "the repetition. `bound` is an estimate."
    )
    add_note(folder, "variants", {"names": names, "datasets": datasets, "repetitions": repetitions}, text)
    return Reproduced(rows, files, failures)
