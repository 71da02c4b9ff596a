"""`abnet explain`: what moves the answers of a model."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.exit_codes import UsageError
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["explain"]


@guarded
def explain(
    model: options.Model,
    table: options.Table,
    row: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Row to explain; rows count from 1. Repeatable.")
    ] = None,
    rows: Annotated[str | None, typer.Option(metavar="RANGES", help="Rows to explain, e.g. 1-5,9, or 'all'.")] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            readable=False,
            help="Typical rows to compare with; by default training rows that the model keeps.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file for the contributions of the chosen rows, or of all rows."
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for figures (PNG and SVG); created if missing.")
    ] = None,
    overwrite: options.Overwrite = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the sampling.")] = 0,
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
) -> None:
    """Explain what a model says about single rows, or about a table as a whole.

    For a row: which columns moved its score, and by how much (Shapley values,
    exact or with standard errors), and which regions of the network it falls in.
    For a table: which columns matter, which regions hold the rows, and how the
    neurons of the first layer act together. Use rows that the model was not
    trained on.

    abnet explain model.abnet new.csv --row 3
    abnet explain model.abnet new.csv --rows 1-100 --output contributions.csv
    abnet explain model.abnet new.csv --plots figures
    """
    from abnet.cli.outputs import check_output
    from abnet.utils.wording import number_of

    if row and rows is not None:
        raise UsageError("give --row or --rows, not both.")
    if output is not None:
        check_output(output, "CSV", inputs=(model, table, background), overwrite=overwrite)
    with stage_bars("Starting", hidden=quiet) as progress:
        from abnet.explanation.explain_table import explain_table

        made = explain_table(
            model,
            table,
            rows=row or rows,
            background=background,
            output=output,
            plots=plots,
            seed=seed,
            progress=progress,
        )
    console.show_notes(made.notes)
    if json:
        console.as_json({**made.to_dict(), "notes": console.shown_notes()})
        return
    if made.whole is not None or output is None:
        print(made.describe())
    if output is not None and made.rows is not None:
        print(f"Contributions of {number_of(len(made.rows), 'row')} written to {output}.")
    if made.figures:
        print()
        console.paragraph(f"Figures: {', '.join(made.figures)}", end="\n")
