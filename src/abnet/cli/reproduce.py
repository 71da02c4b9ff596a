"""`abnet reproduce`: the paper's Table 1 and figures."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abnet.cli.console import message
from abnet.cli.exit_codes import UsageError
from abnet.cli.guarded import guarded
from abnet.cli.help import Command, Group
from abnet.cli.interrupts import when_interrupted

if TYPE_CHECKING:
    from abnet.paper import Reproduced

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
    bool, typer.Option("--only-report", "--no-train", metavar="", help="Train nothing; show the stored results.")
]
Race = Annotated[
    bool,
    typer.Option(
        "--race", metavar="", help="Let short trials choose which wide settings train in full.", rich_help_panel=_SWEEP
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Show no progress.")]

_RUNS = Path("runs.sqlite")
_RESULTS = Path("results")


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
    """Train the missing runs of Table 1, write table1.csv and table1.md, and show them beside the paper's.

    You can stop it at any time; the same command continues.

    abnet reproduce table1 --datasets ads --widths 2,4,8 --data-dir ~/data
    abnet reproduce table1 --race --jobs 2
    abnet reproduce table1 --only-report
    """
    from abnet import paper
    from abnet.paper.reproduction.table1_display import to_terminal

    with _resumable(), _connected(cluster) as client:
        table = paper.table1(
            store,
            datasets=_words(datasets),
            models=_words(models),
            widths=_numbers("--widths", widths),
            repetitions=repetitions,
            race=race,
            train=not only_report,
            jobs=jobs,
            client=client,
            data_dir=data_dir,
            output_dir=output_dir,
            verbose=not quiet,
        )
    _show(to_terminal(table.data))
    _finish(table)


@app.command(cls=Command)
@guarded
def variants(
    names: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Some of warm-up,deviations,both,restarts,small,surround; all by default."),
    ] = None,
    datasets: Datasets = None,
    repetitions: Repetitions = 5,
    jobs: Jobs = -1,
    store: Store = _RUNS,
    cluster: Cluster = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Train variants of PBGNet and ABNet that the paper does not have, and write table1_variants.csv and a figure.

    Table 1 itself is unchanged. You can stop it at any time; the same command continues.

    abnet reproduce variants --data-dir ~/data
    abnet reproduce variants --names restarts --datasets ads,adult
    """
    from abnet import paper

    with _resumable(), _connected(cluster) as client:
        table = paper.variants(
            store,
            names=_words(names),
            datasets=_words(datasets),
            repetitions=repetitions,
            train=not only_report,
            jobs=jobs,
            client=client,
            data_dir=data_dir,
            output_dir=output_dir,
            verbose=not quiet,
        )
    _finish(table)


@app.command(cls=Command)
@guarded
def exact(
    datasets: Datasets = None,
    repetitions: Repetitions = 5,
    jobs: Jobs = -1,
    store: Store = _RUNS,
    cluster: Cluster = None,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Train wide PBGNet with exact outputs at the settings of table1.csv, and write table1_exact.csv.

    Table 1 itself samples the outputs, as the paper does. You can stop it at any time; the same command continues.

    abnet reproduce exact --data-dir ~/data
    """
    from abnet import paper

    with _resumable(), _connected(cluster) as client:
        table = paper.exact_pbgnet(
            store,
            datasets=_words(datasets),
            repetitions=repetitions,
            train=not only_report,
            jobs=jobs,
            client=client,
            data_dir=data_dir,
            output_dir=output_dir,
            verbose=not quiet,
        )
    _finish(table)


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
        int, typer.Option(min=3, metavar="NUMBER", help="Number of timed passes; fewer if they take long.")
    ] = 100,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Measure Figure 2, the time of a forward pass by width and by depth, on 32 examples of ads.

    Run nothing else at the same time. With --only-report it is drawn from fig2.csv.

    abnet reproduce fig2 --data-dir ~/data
    abnet reproduce fig2 --widths 2,4,8,12 --depths 2,6
    """
    from abnet import paper

    figure = paper.fig2(
        widths=_numbers("--widths", widths),
        depths=_numbers("--depths", depths),
        repetitions=repetitions,
        train=not only_report,
        data_dir=data_dir,
        output_dir=output_dir,
        verbose=not quiet,
    )
    _finish(figure)


@app.command(cls=Command)
@guarded
def width(
    widths: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Hidden units in each layer; 2 to 1000 by default.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=3, metavar="NUMBER", help="Number of timed passes; fewer if they take long.")
    ] = 100,
    data_dir: DataDir = None,
    output_dir: OutputDir = _RESULTS,
    only_report: OnlyReport = False,
    quiet: Quiet = False,
) -> None:
    """Measure the CPU time of a forward pass by width, to 1,000 units.

    It goes on where Figure 2 ends: a table of 2^d, samples, and the series. With
    --only-report it is drawn from fig_width.csv.

    abnet reproduce width --data-dir ~/data
    abnet reproduce width --widths 2,10,100
    """
    from abnet import paper

    figure = paper.fig_width(
        widths=_numbers("--widths", widths),
        repetitions=repetitions,
        train=not only_report,
        data_dir=data_dir,
        output_dir=output_dir,
        verbose=not quiet,
    )
    _finish(figure)


@app.command(cls=Command)
@guarded
def fig3(
    random_state: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the training.")] = 0,
    output_dir: OutputDir = _RESULTS,
    quiet: Quiet = False,
) -> None:
    """Train 2-2-2-1 on two circles and draw Figure 3, its regions over the plane.

    abnet reproduce fig3
    """
    from abnet import paper

    _finish(paper.fig3(random_state=random_state, output_dir=output_dir, verbose=not quiet))


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
    """Train the missing runs of Figure 4 (mnistLH, 1 to 8 hidden layers), write fig4.csv and draw it.

    abnet reproduce fig4 --widths 4 --data-dir ~/data
    abnet reproduce fig4 --only-report
    """
    from abnet import paper

    with _resumable(), _connected(cluster) as client:
        figure = paper.fig4(
            store,
            models=_words(models),
            widths=_numbers("--widths", widths),
            repetitions=repetitions,
            train=not only_report,
            jobs=jobs,
            client=client,
            data_dir=data_dir,
            output_dir=output_dir,
            verbose=not quiet,
        )
    _finish(figure)


@app.command(cls=Command)
@guarded
def status(
    datasets: Datasets = None,
    models: Models = None,
    widths: Widths = None,
    repetitions: Repetitions = 5,
    race: Annotated[
        bool, typer.Option("--race", metavar="", help="Show a race: its trials, then the settings trained in full.")
    ] = False,
    store: Store = _RUNS,
) -> None:
    """Show how many runs of Table 1 are done, by data set, model and width.

    abnet reproduce status --store runs.sqlite
    """
    from abnet import paper

    done = paper.status(
        store,
        datasets=_words(datasets),
        models=_words(models),
        widths=_numbers("--widths", widths),
        repetitions=repetitions,
        race=race,
    )
    _show(_status_table(done))


@app.command(cls=Command)
@guarded
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file to write.")] = _RESULTS / "runs.csv",
    store: Store = _RUNS,
) -> None:
    """Write the finished runs to a CSV file that `abnet reproduce import` reads.

    abnet reproduce export results/runs.csv
    """
    from abnet import paper
    from abnet.utils.wording import number_of

    print(f"Written to {file}: {number_of(paper.export_runs(file, store), 'run')}, trials and variants included.")


@app.command("import", cls=Command)
@guarded
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file of runs.")] = _RESULTS / "runs.csv",
    store: Store = _RUNS,
) -> None:
    """Add the runs of a CSV file to a store, so that tables can be drawn and sweeps continue from there.

    Every row is checked: its key must be that of its setting, data and protocol.

    abnet reproduce import results/runs.csv --store runs.sqlite
    """
    from abnet import paper
    from abnet.utils.wording import number_of

    new, known = paper.import_runs(file, store)
    print(f"Added to {store}: {number_of(new, 'run')}; already there: {known:,}.")


@app.command(cls=Command)
@guarded
def report(
    page: Annotated[Path, typer.Option(metavar="FILE", help="Markdown page whose generated parts are updated.")] = Path(
        "docs/reproduction.md"
    ),
    output_dir: OutputDir = _RESULTS,
) -> None:
    """Update the page that shows the reproduction from the files in the results folder.

    abnet reproduce report --page docs/reproduction.md
    """
    from abnet import paper

    print(f"{page}: {', '.join(paper.renew_page(page, output_dir))} renewed")


def _words(text: str | None) -> list[str] | None:
    """Names separated by commas or spaces."""
    if text is None:
        return None
    return text.replace(",", " ").split()


def _numbers(option: str, text: str | None) -> list[int] | None:
    """Whole numbers separated by commas or spaces."""
    words = _words(text)
    if words is None:
        return None
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError(f"{option} takes whole numbers separated by commas, not {text!r}")
    return [int(word) for word in words]


def _resumable() -> AbstractContextManager[None]:
    """Report after Ctrl-C that finished runs are stored."""
    return when_interrupted("interrupted; finished runs are stored, and the same command continues.")


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """A client of the Dask cluster at an address; None without one."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("--cluster needs Dask: pip install 'abnet[dask]'") from error
    try:
        client = Client(address, timeout=30, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address}; start one with `dask scheduler`") from error
    with client:
        yield client


def _status_table(progress: dict[tuple[str, str, int], tuple[int, int]]) -> Any:
    """A row for each data set and model, a column for each width, with sums.

    Parameters
    ----------
    progress : dict
        Finished runs and all runs by data set, model and width.
    """
    from rich.table import Table

    widths = sorted({width for _, _, width in progress})
    pairs = list(dict.fromkeys((dataset, model) for dataset, model, _ in progress))
    table = Table(title="Runs done", header_style="bold")
    table.add_column("data set", justify="left")
    table.add_column("model", justify="left")
    for name in (*(f"width {width}" for width in widths), "all"):
        table.add_column(name, justify="right")

    def cell(rows: list[tuple[str, str]], columns: list[int]) -> str:
        """``finished/all`` runs, summed over some rows and columns; empty if there are none."""
        counts = [progress[*pair, width] for pair in rows for width in columns if (*pair, width) in progress]
        if not counts:
            return ""
        return f"{sum(done for done, _ in counts)}/{sum(total for _, total in counts)}"

    for dataset, model in pairs:
        row = [(dataset, model)]
        table.add_row(dataset, model.replace("_l", "ℓ"), *(cell(row, [width]) for width in widths), cell(row, widths))
    table.add_section()
    table.add_row("all", "", *(cell(pairs, [width]) for width in widths), cell(pairs, widths))
    return table


def _show(table: Any) -> None:
    """A rich table on stdout, 120 characters wide where that is no terminal."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(table)


def _finish(reproduced: "Reproduced[Any]") -> None:
    """Name the files; groups that failed are an exit code of 1."""
    print("Written: " + ", ".join(map(str, reproduced.files)))
    if reproduced.failures:
        for name, error in reproduced.failures.items():
            message(f"{name} failed: {error}")
        raise typer.Exit(1)
