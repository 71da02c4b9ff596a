"""`abnet explain`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.console import UsageError, guarded, said, say

__all__ = ["explain"]


@guarded
def explain(
    model: options.Model,
    table: options.Table,
    row: Annotated[
        list[int] | None,
        typer.Option(metavar="NUMBER", help="Row to explain, from 1 on, the header not counted; may be repeated."),
    ] = None,
    rows: Annotated[str | None, typer.Option(metavar="NUMBERS", help="Rows to explain, e.g. 1-5,9, or 'all'.")] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            readable=False,
            help="Usual rows to compare with; by default those of the first part that the model keeps.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV file for the contributions of the rows (of all if none is named).",
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for figures (PNG and SVG); created if missing.")
    ] = None,
    overwrite: options.Overwrite = False,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the orders and rows drawn.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    json: options.AsJSON = False,
) -> None:
    """Explain what a model says: of single rows, or as a whole on a table.

    Of a row: the columns that moved it, with their cells, adding up to its score
    F (Shapley values, exact or with their standard errors), and the regions of
    the leading layer that it falls in. Of the model: which columns matter, which
    regions hold the rows, and how the leading neurons act together. Give rows
    that the model did not learn from.

    abnet explain model.abnet new.csv --row 3
    abnet explain model.abnet new.csv --rows 1-100 --output contributions.csv
    abnet explain model.abnet new.csv --plots figures
    """
    from abnet.cli.jobs.explain_table import explain_table
    from abnet.cli.jobs.inputs import check_output
    from abnet.cli.predict import file_bar
    from abnet.words import number_of

    if row and rows is not None:
        raise UsageError("give --row or --rows, not both.")
    if output is not None:
        inputs = [path for path in (model, table, background) if path is not None]
        check_output(output, "CSV", inputs=inputs, overwrite=overwrite)
    with file_bar(f"Explaining {table.name}", quiet=quiet) as progress:
        outcome = explain_table(
            model, table, row=row or (), rows=rows, background=background, output=output, plots=plots, seed=seed,
            progress=progress,
        )  # fmt: skip
    for notice in outcome.notices:
        say(notice)
    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
        return
    if outcome.whole is not None:
        print(outcome.whole.describe())
    elif outcome.rows is not None and output is None:
        print(outcome.rows.describe())
    if output is not None and outcome.rows is not None:
        print(f"Contributions of {number_of(len(outcome.rows), 'row')} written to {output}.")
    if outcome.figures:
        print(f"\nFigures: {', '.join(outcome.figures)}")
