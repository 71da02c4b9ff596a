"""`abnet monitor`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import guarded, note

__all__ = ["monitor"]

ALARM = 3
"""Exit code where the evidence has reached its line."""


@guarded
def monitor(
    model: options.Model,
    table: Annotated[
        Path,
        typer.Argument(metavar="LABELLED", readable=False, help="New rows in their order, with their labels."),
    ],
    state: Annotated[Path, typer.Option(metavar="FILE", help="What has been seen so far; made if it is not there.")],
    alpha: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Probability of ever raising a false alarm. [default: 0.01]"),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The promised error. [default: the model's certificate]"),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels; by default the one that the model predicts."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the evidence over the rows of this table (PNG or SVG).")
    ] = None,
    json: options.AsJSON = False,
) -> None:
    """Watch a deployed model: is there evidence that it errs more often than was promised?

    Give each labelled row once, in order, in as many calls as you like. Exit
    code 0: no alarm; 3: alarm. The state is replaced in one step, so that a job
    that is killed leaves the old one or the new one.

    abnet monitor model.abnet monday.csv --state watch.json
    abnet monitor model.abnet tuesday.csv --state watch.json --picture evidence.png
    """
    from abnet.cli.jobs.watch_model import watch_model

    outcome = watch_model(model, table, state, error=error, alpha=alpha, truth=truth, picture=picture)
    for notice in outcome.notices:
        note(f"note: {notice}")
    if json:
        show.as_json(outcome.to_dict())
    else:
        print(outcome.monitor.describe())
    if outcome.monitor.alarm:
        raise typer.Exit(ALARM)
