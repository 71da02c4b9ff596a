"""`abnet predict`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.console import (
    UsageError,
    guarded,
    said,
    say,
)

__all__ = ["file_bar", "predict"]


@contextmanager
def file_bar(description: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """A callback that takes the share done, between 0 and 1, or None when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@guarded
def predict(
    model: options.Model,
    table: options.Table,
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file to write; stdout by default, or with -."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", metavar="", help="Add the probability of each class.")] = False,
    abstain: Annotated[
        bool,
        typer.Option(
            "--abstain", metavar="", help="Leave rows empty that the model is not sure enough of (--target-error)."
        ),
    ] = False,
    decide: Annotated[
        bool,
        typer.Option(
            "--decide",
            metavar="",
            help="Answer by the threshold that was certified (--target-recall, --target-precision, --costs).",
        ),
    ] = False,
    unseen: Annotated[
        str,
        typer.Option(
            metavar="warn|error",
            help="Categories that training never saw, and dates that cannot be read: go on with a note and treat them "
            "as unknown and missing, or refuse the table. The certificate is about all rows, those with new values "
            "included; it says nothing about the rows that are left when others are refused.",
        ),
    ] = "warn",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column to pass through, such as an id; may be repeated; 'all' keeps every column."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", metavar="", help="Without --output, one JSON object per row; with it, a summary as JSON."
        ),
    ] = False,
) -> None:
    """Predict the rows of a table, in their order, with a model file.

    Columns are found by name; their order and further columns do not matter.
    Large files stream through. The output appears under its name when it is
    complete, and not before.

    abnet predict model.abnet new.csv
    abnet predict model.abnet new.csv --proba --output predictions.csv
    abnet predict model.abnet new.parquet --json | jq .prediction
    zcat new.csv.gz | abnet predict model.abnet - --keep id
    """
    from abnet.cli.jobs.inputs import check_output
    from abnet.cli.jobs.predict_table import Wanted, predict_to_file, predict_to_stream
    from abnet.words import number_of

    output = None if to in (None, "-") else Path(str(to))
    if unseen not in ("error", "warn"):
        raise UsageError(f"--unseen must be 'error' or 'warn', not {unseen!r}.")
    if output is not None:
        check_output(output, "CSV", inputs=(model, table), overwrite=overwrite)
    if abstain and decide:
        raise UsageError("--abstain and --decide each have a threshold of their own: give one.")
    wanted = Wanted(proba, tuple(keep or ()), unseen == "error", abstain, decide)
    with file_bar(f"Predicting {table.name}", quiet=quiet or output is None) as progress:
        if output is None:
            outcome = predict_to_stream(model, table, wanted, json_lines=json)
        else:
            outcome = predict_to_file(model, table, output, wanted, progress=progress)
    for notice in outcome.notices:
        say(notice)
    if output is not None and json:
        console.as_json({**outcome.to_dict(), "notes": said()})
    elif output is not None:
        replaced = ", in place of an older file" if outcome.replaced else ""
        print(f"Predicted {number_of(outcome.n_rows, 'row')} into {output}{replaced}.")
        print(", ".join(f"{label}: {number:,}" for label, number in outcome.counts.items()))
