"""`abnet predict`: label the rows of a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

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
    sets: Annotated[
        bool, options.flag("--sets", "Add the prediction set of each row: its classes, between braces.")
    ] = False,
    sets_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Take the prediction sets from a certificate that `abnet certify --sets` saved.",
        ),
    ] = None,
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
    abnet predict model.abnet new.csv --sets
    abnet predict model.abnet new.csv --on-error skip --keep id
    abnet predict model.abnet new.parquet --json | jq .prediction
    zcat new.csv.gz | abnet predict model.abnet - --keep id
    """
    from abnet.cli.outputs import check_output
    from abnet.model.predict_table import predict_table
    from abnet.utils.wording import number_of

    output = None
    if to not in (None, "-"):
        output = Path(str(to))
        check_output(output, "CSV", inputs=(model, table), overwrite=overwrite)
    choices: dict[str, Any] = {"unseen": unseen, "on_error": on_error}  # `predict_table` checks these texts
    destination: Any = output
    form: Any = "csv"
    if output is None:
        destination = console.data_stream()
        if json:
            form = "json"
    given_sets: bool | Path = sets
    if sets_from is not None:
        given_sets = sets_from
    with stage_bars(f"Predicting {table.name}", hidden=quiet or output is None) as progress:
        outcome = predict_table(
            model,
            table,
            destination,
            proba=proba,
            sets=given_sets,
            keep=tuple(keep or ()),
            allow_shift=allow_shift,
            vote=vote,
            form=form,
            progress=progress,
            **choices,
        )
    console.show_notes(outcome.notes)
    # The first skipped row is among the notes already.
    for skipped in outcome.skipped[1:MOST_SKIPPED]:
        console.note(f"row {skipped.row} skipped: {skipped.reason}")
    n_more = len(outcome.skipped) - MOST_SKIPPED
    if n_more > 0:
        console.note(f"{number_of(n_more, 'more row')} skipped; --output FILE --json lists all")
    if output is None:
        return
    if json:
        console.as_json({**outcome.to_dict(), "notes": console.shown_notes()})
        return
    print(f"Predicted {number_of(outcome.n_rows, 'row')} into {output}{console.replaced(outcome.replaced)}.")
    print(", ".join(f"{label}: {number:,}" for label, number in outcome.counts.items()))
    if outcome.set_sizes is not None:
        sizes = [
            f"{number_of(size, 'class', 'classes')}: {number:,}"
            for size, number in enumerate(outcome.set_sizes)
            if number
        ]
        print(f"Prediction sets by size: {', '.join(sizes)}")
