"""`abnet robust`: which answers cannot change while cells are off by a tolerance."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.exit_codes import UsageError
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["robust"]


@guarded
def robust(
    model: options.Model,
    table: options.Table,
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="SIZES",
            show_default=False,
            help="How far cells may be off: COLUMN=SIZE,… with * for all other numbers. A size is 5 (units of the "
            "column), 10% (of the value) or 1%sd (of the standard deviation in the training rows).",
        ),
    ] = "",
    free: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of categories that may have any value. Repeatable."),
    ] = None,
    nodes: Annotated[
        int, typer.Option(min=0, metavar="N", help="Effort: number of boxes that a row may be cut into.")
    ] = 100,
    truth: options.Truth = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="CSV file with a line for each row.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the certificate as JSON, for `abnet report --certificate`."),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
) -> None:
    """Find out which answers cannot change while cells are off by a tolerance.

    Every row is robust (no point within the tolerance gets another answer),
    flipped (with such a point) or open. For labelled rows held out from training,
    a certificate bounds the share of new rows that are wrong or could become
    wrong; open rows count as if they could. For two classes and exact members.
    Declare the tolerance before you look at the rows.

    abnet robust model.abnet held-out.csv --tolerance "glucose=5,*=1%sd"
    abnet robust model.abnet held-out.csv --tolerance 5%sd --free sex
    abnet robust model.abnet new.csv --tolerance age=2 --output robust.csv
    abnet robust model.abnet held-out.csv --tolerance age=2 --save tolerance.json
    """
    from abnet.cli.outputs import check_output

    if output is not None:
        check_output(output, "CSV", inputs=(model, table), overwrite=overwrite)
    if save is not None:
        check_output(save, "JSON", inputs=(model, table, output), overwrite=overwrite, option="--save")
    with stage_bars("Starting", hidden=quiet or json):
        from abnet.robustness.robust_table import robust_table

        made = robust_table(
            model,
            table,
            tolerance=tolerance,
            free=free or [],
            truth=truth,
            nodes=nodes,
            output=output,
            delta=delta,
            n_candidates=n_candidates,
        )
    console.show_notes(made.notes)
    if save is not None:
        certificate = made.found.certificate
        if certificate is None:
            raise UsageError("--save: the rows have no labels, so there is no certificate to save.")
        certificate.save(save)
    if json:
        console.as_json({**made.to_dict(), "notes": console.shown_notes()})
        return
    print(made.describe())
    if output is not None:
        print(f"\nRows written to {output}.")
    if save is not None:
        print(f"\nCertificate written to {save}.")
