"""`abnet report`: one page about a model."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["report"]


@guarded
def report(
    model: options.Model,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", readable=False, help="Labelled rows that the model was not trained on."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write.")] = Path(
        "report.html"
    ),
    truth: options.Truth = None,
    compared: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other models to show: the output of `abnet compare --json`.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    owner: Annotated[str | None, typer.Option(metavar="TEXT", help="Who is accountable for it.")] = None,
    purpose: Annotated[str | None, typer.Option(metavar="TEXT", help="Intended use.")] = None,
    card: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="More facts that only people know: a TOML file."),
    ] = None,
    card_template: Annotated[
        bool, options.flag("--card-template", "Print a card to fill in, and write no page.")
    ] = False,
    certificate: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Another certificate of this model to show (may be repeated)."),
    ] = None,
    form: Annotated[
        bool,
        typer.Option(
            "--form/--no-form",
            metavar="",
            help="Include a form to try rows. The page then holds the model and the training rows that it keeps.",
        ),
    ] = True,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
) -> None:
    """Write one HTML page about a model.

    The page shows the certificate, which columns matter, how the model was
    trained, and how to make it again. With labelled rows it also shows estimates
    of calibration, confusion and the error at every coverage. The page makes no
    network request and can be read without JavaScript.

    abnet report model.abnet
    abnet report model.abnet fresh.csv --output report.html
    abnet report model.abnet fresh.csv --owner "Risk team" --purpose "Triage"
    abnet compare patients.csv --target diagnosis --json > others.json
    abnet report model.abnet fresh.csv --compared others.json --no-form
    abnet report model.abnet --card-template > card.toml
    abnet report model.abnet --card card.toml
    """
    from abnet.cli.outputs import check_output
    from abnet.utils.wording import number_of

    if card_template:
        _print_template(model)
        return
    certificates = tuple(certificate or ())
    check_output(output, "HTML", inputs=(model, table, compared, card, *certificates), overwrite=overwrite)
    with stage_bars("Starting", hidden=quiet) as progress:
        from abnet.report.report_table import report_table

        made = report_table(
            model,
            output,
            table,
            truth=truth,
            compared=compared,
            title=title,
            owner=owner,
            purpose=purpose,
            card=card,
            certificates=certificates,
            form=form,
            progress=progress,
        )
    console.show_notes(made.notes)
    if json:
        console.as_json({**made.to_dict(), "notes": console.shown_notes()})
        return
    report = "Report"
    if made.n_rows:
        report = f"Report with estimates from {number_of(made.n_rows, 'row')}"
    size = f"{console.file_size(made.size)}{console.replaced(made.replaced)}"
    print(f"{report} written to {made.output} ({size}).")


def _print_template(model: Path) -> None:
    from abnet.model.table_rows import as_model
    from abnet.report.stated_facts import about_template

    print(about_template(as_model(model)), end="")
