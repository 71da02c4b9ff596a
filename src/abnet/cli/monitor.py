"""`abnet monitor`: watch a deployed model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.exit_codes import UsageError
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["monitor"]

ALARM = 3
"""Exit code where an alarm was raised."""


@guarded
def monitor(
    model: options.Model,
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", readable=False, help="New rows in their order; labelled, unless --inputs."),
    ],
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File that keeps the state between calls; created if missing.")
    ] = None,
    inputs: Annotated[
        bool, options.flag("--inputs", "Only compare the columns with the training rows: no labels, no state.")
    ] = False,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", show_default="0.01", help="Maximum probability of ever raising a false alarm."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(metavar="RATE", show_default="the model's certificate", help="Promised error rate."),
    ] = None,
    recall: Annotated[
        str | None,
        typer.Option(metavar="RATE|certified", help="Watch this recall of --positive-class instead."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(metavar="RATE|certified", help="Watch this precision of --positive-class instead."),
    ] = None,
    positive_class: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", show_default="that of the model's threshold", help="The class of the recall or precision."
        ),
    ] = None,
    truth: options.Truth = None,
    prediction: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With a certificate instead of a model: the column with its answers."),
    ] = None,
    allow_repeat: Annotated[bool, options.flag("--allow-repeat", "Count a table that was given before.")] = False,
    allow_shift: options.AllowShift = False,
    json: options.AsJSON = False,
) -> None:
    """Watch a deployed model: do labelled rows contradict the promised error rate, recall or precision?

    Give each labelled row once, in order, in as many calls as you like. A table
    that was given before is refused (exit code 1), and so are rows that the model
    was fitted on. Exit code 0: no alarm; 3: alarm. The state is replaced in one
    step, so a job that is killed leaves the old state or the new one. With
    --inputs, the columns are compared with the training rows instead, and no
    labels are needed.

    abnet monitor model.abnet monday.csv --state watch.json
    abnet monitor model.abnet tuesday.csv --state watch.json
    abnet monitor model.abnet monday.csv --state found.json --recall certified
    abnet monitor model.abnet monday.csv --state found.json --recall 0.9 \\
        --positive-class ill
    abnet monitor model.abnet unlabelled.csv --inputs
    abnet monitor winner.json answers.csv --prediction answer --truth label \\
        --state watch.json
    """
    from abnet.cli.outputs import check_output

    if inputs:
        _watch_inputs(model, table, alpha, json=json)
        return
    if state is None:
        raise UsageError("name a file for the state with --state FILE, or compare only the columns with --inputs.")
    check_output(state, "JSON", inputs=(model, table), option="--state")
    with stage_bars("Starting", hidden=json):
        from abnet.model.monitor_table import monitor as watch

        made = watch(
            model,
            table,
            state,
            error=error,
            recall=_rate("--recall", recall),
            precision=_rate("--precision", precision),
            positive_class=positive_class,
            alpha=alpha,
            truth=truth,
            prediction=prediction,
            allow_repeat=allow_repeat,
            allow_shift=allow_shift,
        )
    console.show_notes(made.notes)
    if json:
        console.as_json({**made.to_dict(), "notes": console.shown_notes()})
    else:
        print(made.describe())
    if made.alarm:
        raise typer.Exit(ALARM)


def _rate(option: str, text: str | None) -> Any:
    """A promised rate: a number, "certified" or None."""
    if text is None or text == "certified":
        return text
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{option} takes a rate such as 0.9, or 'certified'; got {text!r}.") from error


def _watch_inputs(model: Path, table: Path, alpha: float | None, *, json: bool) -> None:
    with stage_bars("Starting", hidden=json):
        from abnet.model.check_inputs import ALPHA, check_inputs

        if alpha is None:
            alpha = ALPHA
        made = check_inputs(model, table, alpha=alpha)
    if json:
        console.as_json(made.to_dict())
    else:
        print(made.describe())
    if made.alarm:
        raise typer.Exit(ALARM)
