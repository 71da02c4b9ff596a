"""`abnet predict`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.console import guarded

__all__ = ["predict"]

MOST_SKIPPED = 10
"""Skipped rows that are named one by one."""


@guarded
def predict(
    model: options.Model,
    table: options.Table,
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file to write; by default, or with -, to stdout."),
    ] = None,
    proba: Annotated[bool, options.flag("--proba", "Add the probability of each class.")] = False,
    vote: Annotated[
        bool, options.flag("--vote", "Predict the most likely class, without the certified threshold.")
    ] = False,
    unseen: Annotated[
        str,
        typer.Option(
            metavar="warn|error",
            help="New categories and cells that cannot be read: treat them as unknown or missing, with a note, or "
            "refuse the table.",
        ),
    ] = "warn",
    on_error: Annotated[
        str,
        typer.Option(
            metavar="stop|skip",
            help="A row that cannot be read: stop, or leave its prediction empty and name the row in a note.",
        ),
    ] = "stop",
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to pass through, such as an id; repeatable. 'all' keeps all."),
    ] = None,
    allow_shift: options.AllowShift = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: Annotated[
        bool, options.flag("--json", "One JSON object per row; with --output, a summary as JSON instead.")
    ] = False,
) -> None:
    """Predict the rows of a table, in their order, with a model file.

    Columns are found by name; their order does not matter, and other columns are
    ignored. A model that was fitted with a target or costs applies its certified
    threshold; where it abstains, the prediction is empty. Files larger than memory
    are streamed, and the output file appears when it is complete. A table with a
    numeric column far outside its training range in most rows, as in another
    unit, is refused (exit code 1).

    abnet predict model.abnet new.csv
    abnet predict model.abnet new.csv --proba --output predictions.csv
    abnet predict model.abnet new.csv --on-error skip --keep id
    abnet predict model.abnet new.parquet --json | jq .prediction
    zcat new.csv.gz | abnet predict model.abnet - --keep id
    """
    from abnet.cli.outputs import check_output
    from abnet.model.predict_table import predict_table
    from abnet.utils.wording import number_of

    output = None if to in (None, "-") else Path(str(to))
    if output is not None:
        check_output(output, "CSV", inputs=(model, table), overwrite=overwrite)
    wanted: dict[str, Any] = {
        "proba": proba,
        "keep": tuple(keep or ()),
        "unseen": unseen,
        "on_error": on_error,
        "allow_shift": allow_shift,
        "vote": vote,
        "form": "json" if json and output is None else "csv",
    }
    with console.bar(f"Predicting {table.name}", quiet=quiet or output is None) as progress:
        made = predict_table(
            model, table, console.data_stream() if output is None else output, progress=progress, **wanted
        )
    console.say_all(made.notes)
    for skipped in made.skipped[1:MOST_SKIPPED]:
        console.say(f"row {skipped.row} skipped: {skipped.reason}")
    if len(made.skipped) > MOST_SKIPPED:
        console.say(
            f"{number_of(len(made.skipped) - MOST_SKIPPED, 'more row')} skipped; --output FILE --json lists all"
        )
    if output is not None and json:
        console.as_json({**made.to_dict(), "notes": console.said()})
    elif output is not None:
        print(f"Predicted {number_of(made.n_rows, 'row')} into {output}{console.replaced(made.replaced)}.")
        print(", ".join(f"{label}: {number:,}" for label, number in made.counts.items()))
