"""`abnet reproduce`: the paper's Table 1 and figures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli.console import UsageError, guarded
from abnet.cli.options import Command, Group

__all__ = ["app"]

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Reproduce the paper: sweeps that resume, Table 1 beside the paper's, the figures.",
)

_SWEEP = "Sweep"
Datasets = Annotated[str | None, typer.Option(metavar="NAMES", help="Data sets, e.g. ads,adult; all six by default.")]
Models = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Some of PBGNet,ABNet,PBGNet_l,ABNet_l,EBP,BC,BNN; all by default.")
]
Widths = Annotated[
    str | None, typer.Option(metavar="NUMBERS", help="Widths of the hidden layers, e.g. 2,4; all by default.")
]
Repetitions = Annotated[
    int, typer.Option(min=1, max=5, metavar="NUMBER", help="Number of random splits of the data, at most five.")
]
Store = Annotated[
    Path,
    typer.Option(metavar="FILE", help="SQLite file of the runs; a sweep continues from it.", rich_help_panel=_SWEEP),
]
Jobs = Annotated[
    int,
    typer.Option(metavar="NUMBER", help="Processes on this machine; -1 is one for each core.", rich_help_panel=_SWEEP),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster to run on.", rich_help_panel=_SWEEP),
]
DataDir = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Folder with the original files, tried before ABNET_DATA.")
]
OutputDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for tables and figures; created if missing.")]
OnlyReport = Annotated[
    bool, typer.Option("--only-report", "--no-train", metavar="", help="Train nothing; show what is there.")
]
Race = Annotated[
    bool,
    typer.Option(
        "--race", metavar="", help="Let short trials choose which wide settings train in full.", rich_help_panel=_SWEEP
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress.")]

_RUNS, _RESULTS = Path("runs.sqlite"), Path("results")


@app.command(cls=Command)
@guarded
def table1(
    datasets: Datasets = None,
    models: Models = None,
    widths: Widths = None,
    repetitions: Repetitions = 5,
    race: Race = False,
    jobs: Jobs = -1,
    store: Store = _RUNS,
    cluster: Cluster = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Train what is missing of Table 1, then write table1.csv and table1.md and show it beside the paper's.

    Stop it when you like: the same command continues. Several may share a store.

    abnet reproduce table1 --datasets ads --widths 2,4,8 --data-dir ~/data
    abnet reproduce table1 --race --jobs 2
    abnet reproduce table1 --only-report
    """
    from abnet.cli.jobs.reproduce_paper import GridChoice, Place, reproduce_table1, words
    from abnet.experiments.agreement import to_terminal

    choice = GridChoice(words(datasets), words(models), _numbers("--widths", widths), repetitions)
    place = Place(store, jobs, cluster, data_dir, train=not only_report, quiet=quiet)
    comparisons, files, code = reproduce_table1(choice, place, output_dir, with_trials=race)
    _show(to_terminal(comparisons))
    _finish(files, code)


@app.command(cls=Command)
@guarded
def fig2(
    widths: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Widths of panel (a); 2 to 17 by default.")
    ] = None,
    depths: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Depths of panel (b); 2 to 20 by default.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=3, metavar="NUMBER", help="Passes timed, fewer where they take long.")
    ] = 100,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
) -> None:
    """Measure Figure 2, the time of a forward pass by width and by depth, on 32 examples of ads.

    Let nothing else run meanwhile. With --only-report it is drawn from fig2.csv.

    abnet reproduce fig2 --data-dir ~/data
    abnet reproduce fig2 --widths 2,4,8,12 --depths 2,6
    """
    from abnet.cli.jobs.reproduce_paper import reproduce_fig2

    files = reproduce_fig2(
        output_dir, widths=_numbers("--widths", widths), depths=_numbers("--depths", depths), repetitions=repetitions,
        data_dir=data_dir, train=not only_report,
    )  # fmt: skip
    _finish(files)


@app.command(cls=Command)
@guarded
def fig3(
    random_state: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the training.")] = 0,
    output_dir: OutputDir = _RESULTS,
) -> None:
    """Train 2-2-2-1 on two circles and draw Figure 3, its regions over the plane.

    abnet reproduce fig3
    """
    from abnet.experiments import publish

    typed = publish.command("fig3", {"random_state": random_state})
    _finish(publish.publish_regions(output_dir, typed, seed=random_state))


@app.command(cls=Command)
@guarded
def fig4(
    models: Annotated[str | None, typer.Option(metavar="NAMES", help="PBGNet or ABNet; both by default.")] = None,
    widths: Widths = None,
    repetitions: Repetitions = 5,
    jobs: Jobs = -1,
    store: Store = _RUNS,
    cluster: Cluster = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Train what is missing of Figure 4 (mnistLH, 1 to 8 hidden layers), write fig4.csv and draw it.

    abnet reproduce fig4 --widths 4 --data-dir ~/data
    abnet reproduce fig4 --only-report
    """
    from abnet.cli.jobs.reproduce_paper import GridChoice, Place, reproduce_fig4, words

    choice = GridChoice(None, words(models), _numbers("--widths", widths), repetitions)
    place = Place(store, jobs, cluster, data_dir, train=not only_report, quiet=quiet)
    _finish(*reproduce_fig4(choice, place, output_dir))


@app.command(cls=Command)
@guarded
def certificates(
    datasets: Datasets = None,
    splits: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Random 75/25 splits of each data set.")] = 5,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of finished splits; an interrupted run continues from it.")
    ] = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
) -> None:
    """Measure how tight certificates are on the six data sets, and write certificates.csv.

    abnet reproduce certificates --datasets ads,adult --splits 2
    """
    from abnet.cli.jobs.reproduce_paper import words
    from abnet.experiments import publish
    from abnet.experiments.certificates import RECIPES

    named = words(datasets) or list(RECIPES)
    unknown = [name for name in named if name not in RECIPES]
    if unknown:
        raise UsageError(f"--datasets: no recipe for {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    typed = publish.command("certificates", {"datasets": words(datasets), "splits": splits})
    folder = None if data_dir is None else str(data_dir)
    _finish(publish.publish_certificates(output_dir, typed, named, splits=splits, log=log, data_dir=folder))


@app.command(cls=Command)
@guarded
def multiclass(
    features: Annotated[
        str | None, typer.Option(metavar="NAMES", help="What the networks read: raw or maps; both by default.")
    ] = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    quiet: Quiet = False,
) -> None:
    """Learn the ten digits of MNIST, certify them, and write multiclass.csv; minutes for each kind of features.

    What the file holds already is not learned again.

    abnet reproduce multiclass --features maps --data-dir ~/data
    """
    from abnet.cli.jobs.reproduce_paper import words
    from abnet.estimators.classifier import training_bar
    from abnet.experiments import publish
    from abnet.experiments.multiclass import RECIPES

    named = words(features) or list(RECIPES)
    unknown = [name for name in named if name not in RECIPES]
    if unknown:
        raise UsageError(f"--features: there is no {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    folder = None if data_dir is None else str(data_dir)
    typed = publish.command("multiclass", {})
    with training_bar(int(not quiet)) as report:
        files = publish.publish_multiclass(output_dir, typed, named, data_dir=folder, report=report)
    _finish(files)


@app.command(cls=Command)
@guarded
def status(
    datasets: Datasets = None,
    models: Models = None,
    widths: Widths = None,
    repetitions: Repetitions = 5,
    race: Annotated[
        bool, typer.Option("--race", metavar="", help="Show a race: its trials, then the settings that go on.")
    ] = False,
    store: Store = _RUNS,
) -> None:
    """Show how many runs of Table 1 are done, by data set, model and width.

    abnet reproduce status --store runs.sqlite
    """
    from abnet.cli.jobs.reproduce_paper import GridChoice, table1_settings, words
    from abnet.experiments import RunStore
    from abnet.experiments import race as races
    from abnet.experiments.selection import current_results
    from abnet.experiments.sweep import status as progress_of
    from abnet.experiments.sweep import status_table

    choice = GridChoice(words(datasets), words(models), _numbers("--widths", widths), repetitions)
    settings = table1_settings(choice)
    with RunStore(store, create=False) as runs:
        if race:
            stand = races.race(settings, current_results(runs.runs()))
            settings = stand.trials + stand.going_on
        _show(status_table(progress_of(runs, settings)))


@app.command(cls=Command)
@guarded
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file to write.")] = _RESULTS / "runs.csv",
    store: Store = _RUNS,
) -> None:
    """Write the finished runs to a CSV file that `abnet reproduce import` reads.

    abnet reproduce export results/runs.csv
    """
    from abnet.experiments import RunStore, publish
    from abnet.records import number_of

    with RunStore(store, create=False) as runs:
        print(f"Written to {file}: {number_of(publish.publish_runs(runs.runs(), file), 'run')}, trials included.")


@app.command("import", cls=Command)
@guarded
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file of runs.")] = _RESULTS / "runs.csv",
    store: Store = _RUNS,
) -> None:
    """Add the runs of a CSV file to a store, so that table and figures can be drawn and sweeps go on from there.

    Every row is checked: its key must be that of its setting, data and protocol.

    abnet reproduce import results/runs.csv --store runs.sqlite
    """
    from abnet.experiments import RunStore
    from abnet.experiments.exchange import import_runs
    from abnet.records import number_of

    text = file.read_text(encoding="utf-8")
    with RunStore(store) as runs:
        new, known = import_runs(text, runs)
    print(f"Added to {store}: {number_of(new, 'run')}; already there: {known:,}.")


@app.command(cls=Command)
@guarded
def report(
    page: Annotated[Path, typer.Option(metavar="FILE", help="Markdown page whose generated parts are renewed.")] = Path(
        "docs/reproduction.md"
    ),
    output_dir: OutputDir = _RESULTS,
) -> None:
    """Renew the page that shows the reproduction, from the files in the results folder.

    abnet reproduce report --page docs/reproduction.md
    """
    from abnet.experiments.publish import renew_page

    print(f"{page}: {', '.join(renew_page(page, output_dir))} renewed")


def _numbers(option: str, text: str | None) -> list[int] | None:
    from abnet.cli.jobs.reproduce_paper import words

    given = words(text)
    if given is not None and not all(word.isascii() and word.isdigit() for word in given):
        raise UsageError(f"{option} takes whole numbers separated by commas, not {text!r}")
    return None if given is None else [int(word) for word in given]


def _show(table: Any) -> None:
    """A rich table on stdout, 120 characters wide where that is no terminal."""
    from rich.console import Console

    console = Console()
    Console(width=None if console.is_terminal else 120).print(table)


def _finish(files: list[Path], code: Any = 0) -> None:
    print("Written: " + ", ".join(map(str, files)))
    if code:
        raise typer.Exit(code)
