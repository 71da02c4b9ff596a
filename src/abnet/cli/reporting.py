"""`abnet report`: one page about a model."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.console import guarded, said, say

__all__ = ["report"]


@guarded
def report(
    model: options.Model,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", readable=False, help="Labelled rows that the model was not fitted on."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write.")] = Path(
        "report.html"
    ),
    truth: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels; by default the one that the model predicts."),
    ] = None,
    compared: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Other models to show beside it: what `abnet compare --json` printed."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    form: Annotated[
        bool,
        typer.Option(
            "--form/--no-form", metavar="",
            help="With the form the page holds the model, and the rows that it keeps for explanations.",
        ),
    ] = True,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:  # fmt: skip
    """Write one page about a model: certificate, importance, learning, how to make it again.

    With labelled rows it also has estimates of calibration, confusion and the
    error at every coverage. The page makes no request, can be read without
    JavaScript, and prints; with it, a form takes a row and shows its label,
    probabilities and explanation.

    abnet report model.abnet
    abnet report model.abnet fresh.csv --output report.html
    abnet compare patients.csv --target diagnosis --json > others.json
    abnet report model.abnet fresh.csv --compared others.json --no-form
    """
    from abnet.cli.jobs.inputs import check_output

    inputs = [path for path in (model, table, compared) if path is not None]
    check_output(output, "HTML", inputs=inputs, overwrite=overwrite)
    from abnet.cli.jobs.report_model import report_file
    from abnet.words import number_of

    outcome = report_file(model, table, output, truth=truth, compared=compared, title=title, form=form)
    for notice in outcome.notices:
        say(notice)
    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
        return
    replaced = ", in place of an older file" if outcome.replaced else ""
    rows = f" with estimates from {number_of(outcome.n_rows, 'row')}" if outcome.n_rows else ""
    print(f"Report{rows} written to {outcome.output} ({console.kilobytes(outcome.size)}{replaced}).")
