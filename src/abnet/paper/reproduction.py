"""The commands of `abnet reproduce` as functions: train missing runs, return the results, write them to a folder."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from abnet.paper import selection
from abnet.paper.driver import sweep
from abnet.paper.grids import fig4_grid, select, table1_grid
from abnet.paper.protocol import DATASETS, REPETITIONS
from abnet.paper.published_runs import read_runs, runs_to_csv
from abnet.paper.results_folder import add_note, reproduced_rows, write_file
from abnet.paper.run_result import Result
from abnet.paper.run_setting import Setting
from abnet.paper.run_store import RunStore
from abnet.paper.table1_comparison import TableComparison, compare
from abnet.paper.table1_display import to_markdown
from abnet.paper.table1_rows import paper_table, table1_rows, table1_to_csv
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    from distributed import Client

    from abnet.paper.figure2 import Timing
    from abnet.paper.figure4 import DepthPoint
    from abnet.paper.ten_digits import DigitsResult
    from abnet.paper.variant_rows import VariantRow

__all__ = [
    "Reproduced",
    "certificates",
    "export_runs",
    "fig2",
    "fig3",
    "fig4",
    "import_runs",
    "multiclass",
    "status",
    "table1",
    "variants",
]

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
        Folder for `table1.csv` and `table1.md`; by default nothing is written.

    Returns
    -------
    Reproduced
        Its data are `TableComparison` records, each with a row of ours and the paper's.
    """
    settings = _table1_part(datasets, models, widths, repetitions)
    place: dict[str, Any] = {"jobs": jobs, "client": client, "data_dir": data_dir, "verbose": verbose}
    failures: dict[str, str] = {}
    with RunStore(store, create=train) as runs:
        going_on = settings
        if train and race:
            failures |= sweep(selection.race(settings, runs.results()).trials, runs, **place).failures
            going_on = selection.race(settings, runs.results()).going_on
        if train:
            failures |= sweep(going_on, runs, **place).failures
        results = _stored(runs, [*settings, *selection.trials(settings)])
    rows = table1_rows(results)
    comparisons = compare(rows)
    if output_dir is None:
        return Reproduced(comparisons, failures=failures)
    folder = Path(output_dir)
    files = [
        write_file(folder / "table1.csv", table1_to_csv(rows)),
        write_file(folder / "table1.md", "# Table 1, ours beside the paper's\n\n" + to_markdown(comparisons)),
    ]
    options = {"datasets": datasets, "models": models, "widths": widths, "repetitions": repetitions, "race": race}
    text = (
        f"`table1.csv`, `table1.md`: {len(rows)} rows of the paper's 84, selected among "
        f"{sum(row.runs or 0 for row in rows):,} runs. Its column `bound` is an estimate."
    )
    add_note(folder, "table1", options, text)
    return Reproduced(comparisons, files, failures)


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
        Names in `abnet.paper.VARIANTS`; all by default.
    output_dir
        Folder for `table1_variants.csv` and the figure `table1_variants`; the reproduction is read from its
        `table1.csv`. By default nothing is written.
    store, datasets, repetitions, train, jobs, client, data_dir, verbose
        As for `table1`.
    """
    from abnet.paper.datasets import names as known_datasets
    from abnet.paper.run_setting import VARIANTS
    from abnet.paper.variant_display import variant_figure
    from abnet.paper.variant_rows import SIZES, variant_grid, variant_rows, variants_to_csv
    from abnet.utils.plots import save

    chosen, sets = _known("names", names, VARIANTS), list(datasets or SIZES)
    _known("datasets", sets, known_datasets())
    settings = variant_grid(variants=chosen, datasets=sets, repetitions=repetitions)
    failures: dict[str, str] = {}
    with RunStore(store, create=train) as runs:
        if train:
            failures = sweep(
                settings, runs, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose
            ).failures  # fmt: skip
        rows = variant_rows(_stored(runs, settings))
    if output_dir is None:
        return Reproduced(rows, failures=failures)
    folder = Path(output_dir)
    files = [write_file(folder / "table1_variants.csv", variants_to_csv(rows))]
    files += save(variant_figure(rows, reproduced_rows(folder), paper_table()), folder / "table1_variants")
    text = (
        f"`table1_variants.csv`, `.png`, `.svg`: {len(rows)} rows from {sum(row.runs for row in rows)} runs. "
        "Variants of narrow PBGNet and ABNet on a part of the paper's grid (`abnet.paper.variant_rows`): `warm-up` "
        "trains two epochs on the linear loss before the bound, `deviations` learns one standard deviation for each "
        "layer, `both` does both, `restarts` does both from four initialisations and keeps the one with the lowest "
        "bound, each computed at δ/4. Seeds are those of Table 1: the number of the repetition. `bound` is an estimate."
    )
    add_note(folder, "variants", {"names": names, "datasets": datasets, "repetitions": repetitions}, text)
    return Reproduced(rows, files, failures)


def fig4(
    store: StrPath = "runs.sqlite",
    *,
    models: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    repetitions: int = REPETITIONS,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list["DepthPoint"]]:
    """Train the missing runs of Figure 4, bound and test error by depth on mnistLH; parameters as for `table1`."""
    from abnet.paper.figure4 import depth_figure, depth_points, depth_to_csv
    from abnet.utils.plots import save

    settings = select(fig4_grid(), models=models, widths=widths, repetitions=repetitions)
    failures: dict[str, str] = {}
    with RunStore(store, create=train) as runs:
        if train:
            failures = sweep(
                settings, runs, jobs=jobs, client=client, data_dir=data_dir, verbose=verbose
            ).failures  # fmt: skip
        points = depth_points(_stored(runs, settings))
    if output_dir is None:
        return Reproduced(points, failures=failures)
    folder = Path(output_dir)
    files = [write_file(folder / "fig4.csv", depth_to_csv(points)), *save(depth_figure(points), folder / "fig4")]
    text = f"`fig4.csv`, `fig4.png`, `fig4.svg`: {len(points)} points from {sum(p.runs for p in points):,} runs."
    add_note(folder, "fig4", {"models": models, "widths": widths, "repetitions": repetitions}, text)
    return Reproduced(points, files, failures)


def fig2(
    *,
    widths: Sequence[int] | None = None,
    depths: Sequence[int] | None = None,
    repetitions: int = 100,
    train: bool = True,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list["Timing"]]:
    """Measure Figure 2, the time of a forward pass by width and by depth, on 32 examples of ads.

    Parameters
    ----------
    widths, depths
        Of panel (a) and of panel (b).
    repetitions
        Passes timed, fewer where they take long.
    train
        Whether to measure; otherwise the times are read from `fig2.csv` in the output folder.
    data_dir
        Folder of the original files.
    output_dir
        Folder for `fig2.csv` and the figure; by default nothing is written.
    verbose
        Whether to print a line for each point.
    """
    from abnet.paper import figure2
    from abnet.paper.datasets import load
    from abnet.utils.plots import save

    if not train and output_dir is None:
        raise ParameterError(
            "{} needs {}, the folder with fig2.csv.", Parameter("train", False), Parameter("output_dir")
        )
    if train:
        batch = load("ads", data_dir=data_dir, standardise=True).X[:32]
        points = figure2.plan(figure2.METHODS, widths or figure2.WIDTHS, depths or figure2.DEPTHS)
        timings = list(figure2.measure(points, batch, repetitions=repetitions, verbose=verbose))
    else:
        timings = figure2.read_timings((Path(output_dir or ".") / "fig2.csv").read_text(encoding="utf-8"))
    if output_dir is None:
        return Reproduced(timings)
    folder = Path(output_dir)
    files = [
        write_file(folder / "fig2.csv", figure2.timings_to_csv(timings)),
        *save(figure2.timing_figure(timings), folder / "fig2"),
    ]
    text = (
        "`fig2.csv`, `fig2.png`, `fig2.svg`: forward passes on one batch of 32 examples of ads; mean of 100 "
        "passes, fewer for slow ones (column `repetitions`); 100 samples for the stochastic methods"
    )
    machine = f"; {figure2.machine()}." if train else "."
    add_note(folder, "fig2", {"widths": widths, "depths": depths, "repetitions": repetitions}, text + machine)
    return Reproduced(timings, files)


def fig3(*, random_state: int = 0, output_dir: StrPath = "results") -> Reproduced[float]:
    """Train a 2-2-2-1 network on two circles and draw Figure 3, its regions over the plane.

    Returns
    -------
    Reproduced
        Its data is the training error of the vote.
    """
    import numpy as np

    from abnet.estimators.abnet import ABNetClassifier
    from abnet.networks import region_values
    from abnet.paper.datasets import load
    from abnet.paper.figure3 import regions_figure
    from abnet.utils.plots import save

    circles, folder = load("circles"), Path(output_dir)
    clf = ABNetClassifier((2, 2), prior="init", learning_rate_init=0.1, max_iter=200, random_state=random_state)
    clf.fit(circles.X, circles.y)
    network = clf.network_.astype(np.float64)
    shown = slice(None, None, 5)  # all points would hide the regions
    figure = regions_figure(
        network.weights[0], network.biases[0], region_values(network), network.predict,
        circles.X[shown], circles.y[shown],
    )  # fmt: skip
    error = float(np.mean(clf.predict(circles.X) != circles.y))
    files = list(save(figure, folder / "fig3"))
    text = (
        f"`fig3.png`, `fig3.svg`: 2-2-2-1 on `circles`, trained through the bound from a random prior (rate 0.1, up to "
        f"200 epochs, seed {random_state}); training error of the vote {error:.3f}. A fifth of the points is drawn."
    )
    add_note(folder, "fig3", {"random_state": random_state}, text)
    return Reproduced(error, files)


def certificates(
    *,
    datasets: Sequence[str] | None = None,
    splits: int = 5,
    log: StrPath | None = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
) -> Reproduced[list[dict[str, Any]]]:
    """Measure how tight certificates are on the paper's data sets.

    Parameters
    ----------
    datasets
        All six by default.
    splits
        Random 75/25 splits of each data set.
    log
        File of finished splits; an interrupted call continues from it.
    data_dir, output_dir
        As for `table1`; the file is `certificates.csv`.
    """
    from abnet.paper import tightness

    recipes = tightness.RECIPES
    named = _known("datasets", datasets, recipes)
    measured = tightness.measure_all(
        named,
        splits,
        log=None if log is None else Path(log),
        data_dir=None if data_dir is None else os.fspath(data_dir),
    )
    rows = tightness.summarise(measured)
    if output_dir is None:
        return Reproduced(rows)
    folder = Path(output_dir)
    path = write_file(folder / "certificates.csv", tightness.summary_to_csv(rows))
    prepared = {name: tightness.PREPARATIONS[tightness.preparation_of(name, recipes[name])] for name in named}
    text = (
        f"`certificates.csv`: means over {splits} random 75/25 splits, δ = 0.05. Models are trained and certified on "
        "the larger part and tested on the smaller. A mean of certificates is not a certificate. The certificates "
        "account for all recipes tried for this table (`n_candidates`); `certificates_tighter.csv` also counts those "
        "of `defaults.csv`. "
        "Preparation and parameters of `ABNetClassifier`:"
    ) + "".join(f"\n- {name} ({prepared[name]}): `{recipes[name]}`" for name in named)
    add_note(folder, "certificates", {"datasets": datasets, "splits": splits}, text)
    return Reproduced(rows, [path])


def multiclass(
    *,
    features: Sequence[str] | None = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath = "results",
    verbose: bool = False,
) -> Reproduced[list["DigitsResult"]]:
    """Train and certify classifiers of the ten MNIST digits, and write `multiclass.csv`.

    Results that are already in the file are not computed again.

    Parameters
    ----------
    features
        Features of the networks: "raw" or "maps"; both by default.
    data_dir, output_dir, verbose
        As for `table1`.
    """
    from abnet.paper.datasets import mnist_digits
    from abnet.paper.ten_digits import RECIPES, measure_digits, read_digits, results_to_csv
    from abnet.training.progress_bar import training_bar

    folder = Path(output_dir)
    path = folder / "multiclass.csv"
    named = _known("features", features, RECIPES)
    done = {result.recipe: result for result in read_digits(path)}
    with training_bar(int(verbose)) as report:
        for recipe in (RECIPES[name] for name in named):
            if recipe not in done:
                done[recipe] = measure_digits(recipe, *mnist_digits(data_dir=data_dir), report=report)
            kept = [done[recipe] for recipe in RECIPES.values() if recipe in done]
            write_file(path, results_to_csv(kept))
    text = (
        "`multiclass.csv`: MNIST with ten classes, a mixture of wide networks trained on a part of the 60,000 images "
        "of the training file and certified on the rest of them, δ = 0.05; the other 10,000 images are the test set. "
        "`raw` uses pixels, `maps` uses `deskew` and then `oriented_gradients` (`abnet.paper.images`), which are "
        "fixed. Widths, rates, epochs and copies were chosen on 5,000 images of the training part, so only these "
        "two recipes used the bound rows (`n_candidates`). Published: PBB's fully connected network, Gibbs "
        "certificate .0279, test error .020. The same command continues an interrupted run."
    )
    add_note(folder, "multiclass", {}, text)
    return Reproduced([done[RECIPES[name]] for name in named], [path])


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
    settings = _table1_part(datasets, models, widths, repetitions)
    with RunStore(store, create=False) as runs:
        results = runs.results()
    if race:
        stand = selection.race(settings, results)
        settings = stand.trials + stand.going_on
    done = {result.setting for result in results}
    cells: dict[tuple[str, str, int], list[Setting]] = {}
    for s in settings:
        cells.setdefault((s.dataset, s.model, s.width), []).append(s)
    return {cell: (len(done.intersection(members)), len(members)) for cell, members in cells.items()}


def export_runs(file: StrPath = "results/runs.csv", store: StrPath = "runs.sqlite") -> int:
    """Write the finished runs of a store to a CSV file, trials included, variants not; return how many there are."""
    with RunStore(store, create=False) as runs:
        results = [result for result in runs.results() if result.setting.variant is None]
    write_file(Path(file), runs_to_csv(results))
    return len(results)


def import_runs(file: StrPath = "results/runs.csv", store: StrPath = "runs.sqlite") -> tuple[int, int]:
    """Add the runs of a CSV file to a store; return how many were new, and how many were there already.

    Every row is checked: its key must be that of its setting, data and protocol.
    """
    results = read_runs(Path(file).read_text(encoding="utf-8"))
    with RunStore(store) as runs:
        new = runs.add(results)
    return new, len(results) - new


def _table1_part(
    datasets: Sequence[str] | None, models: Sequence[str] | None, widths: Sequence[int] | None, repetitions: int
) -> list[Setting]:
    """The named part of Table 1's grid; data sets outside the paper's may be named."""
    from abnet.paper.datasets import names

    _known("datasets", datasets, names())
    grid = table1_grid(datasets=datasets or DATASETS)
    return select(grid, models=models, widths=widths, repetitions=repetitions)


def _known(parameter: str, named: Sequence[str] | None, known: Mapping[str, object]) -> list[str]:
    """The names, or all that are known if none are given."""
    unknown = [name for name in named or () if name not in known]
    if unknown:
        raise ParameterError(
            "{}: there is no {}; there are {}", Parameter(parameter), ", ".join(unknown), ", ".join(known)
        )
    return list(known if named is None else named)


def _stored(store: RunStore, settings: Sequence[Setting]) -> list[Result]:
    wanted = set(settings)
    results = [result for result in store.results() if result.setting in wanted]
    if not results:
        raise ValueError(f"no run of this part of the grid is in {store.path}")
    return results
