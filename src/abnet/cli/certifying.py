"""`abnet certify` and `abnet monitor`: a model's errors on labelled rows, once and again and again."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.console import UsageError, guarded, said, say

__all__ = ["certify", "monitor"]


@guarded
def certify(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", readable=False, help="Model file, or a table that holds predictions."),
    ],
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", readable=False, help="Labelled rows that had no part in learning."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels; by default the one that the model predicts."),
    ] = None,
    prediction: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the answers of a model that lives elsewhere."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Populations, whose errors are bounded all at once.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows that belong together, such as those of one patient."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the scores of a model that lives elsewhere: how sure it is of its answer (for "
            "--target-error), or how much speaks for --positive-class.",
        ),
    ] = None,
    target_error: options.TargetError = None,
    target_recall: options.TargetRecall = None,
    target_precision: options.TargetPrecision = None,
    positive_class: options.PositiveClass = None,
    costs: options.Costs = None,
    aside: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            rich_help_panel="Certificate",
            help="Share of the rows, at random, that fixes the thresholds of a target or of costs.",
        ),
    ] = 0.3,
    random_state: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", rich_help_panel="Certificate", help="Seed of that choice.")
    ] = 0,
    delta: Annotated[
        float, typer.Option(metavar="NUMBER", help="Maximum probability that the certificate is false.")
    ] = 0.05,
    n_candidates: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="Number of models among which you choose by means of these rows."),
    ] = 1,
    confusion: Annotated[
        bool, typer.Option("--confusion", metavar="", help="Show which class is taken for which, within which limits.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate as JSON; `abnet inspect` reads it.")
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:
    """Certify a finished model on labelled rows that had no part in learning.

    The model is one of ours, or the predictions of any model in a table. A row
    without an answer, and a label that the model does not know, are errors. With
    a target or costs, some of the rows fix thresholds and the others certify.

    abnet certify model.abnet fresh.csv
    abnet certify model.abnet fresh.csv --confusion
    abnet certify model.abnet fresh.csv --by hospital
    abnet certify model.abnet fresh.csv --group patient --save certificate.json
    abnet certify predictions.csv --truth diagnosis --prediction answer
    abnet certify predictions.csv --truth diagnosis --score risk \\
        --target-recall 0.95 --positive-class ill
    """
    import numpy as np

    from abnet.cli.jobs.inputs import check_output
    from abnet.cli.jobs.judge_table import judge_model_file, judge_predictions
    from abnet.decisions.answers import certify_scores
    from abnet.decisions.certify_model import certify_judged
    from abnet.records import number_of

    targets = {"target_error": target_error, "target_recall": target_recall, "target_precision": target_precision}
    wanted: dict[str, Any] = {**targets, "costs": options.costs_of(costs or [])}
    decides = _one_of(wanted)
    if confusion and (by is not None or group is not None or decides):
        raise UsageError("--confusion counts all rows as independent ones: leave out --by, --group and targets.")
    if by is not None and group is not None:
        raise UsageError("give --by or --group, not both: no bound for populations of groups is offered.")
    if decides and (by is not None or group is not None):
        raise UsageError("a target or costs count single rows: leave out --by and --group.")
    if decides in ("target_recall", "target_precision", "costs") and positive_class is None:
        raise UsageError(f"--{decides.replace('_', '-')} needs --positive-class: name the class.")
    if save is not None:
        inputs = [path for path in (model, table) if path is not None]
        check_output(save, "JSON", inputs=inputs, overwrite=overwrite, option="--save")
    columns = tuple(name for name in (by, group) if name is not None)
    if prediction is not None or score is not None:
        if table is not None or truth is None:
            raise UsageError("--prediction goes with one table and --truth: abnet certify PREDICTIONS --truth COLUMN.")
        if (score is not None) != bool(decides) or (prediction is None and decides == "target_error"):
            raise UsageError("--score goes with a target or costs, and --target-error with --prediction too.")
        rows = judge_predictions(model, truth=truth, prediction=prediction, columns=columns, score=score)
    else:
        if table is None:
            raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
        label = ("" if decides == "target_error" else str(positive_class)) if decides else None
        rows = judge_model_file(model, table, truth=truth, columns=columns, scored=label)[1]
    judged = rows.judged()
    certificate: Any
    if decides:
        certificate = certify_scores(
            rows.scores, rows.truth, answers=np.array(rows.answers, object), positive=positive_class, delta=delta,
            n_candidates=n_candidates, aside=aside, random_state=random_state,
            **{**wanted, "costs": _signed(wanted["costs"], str(positive_class))},
        )  # fmt: skip
    else:
        certificate = certify_judged(
            judged, delta=delta, n_candidates=n_candidates,
            groups=rows.columns[group] if group else None, by=rows.columns[by] if by else None,
        )  # fmt: skip
    counted = judged.unanswered if prediction is not None or score is None else 0
    unanswered = [f"counted as errors: {number_of(counted, 'row')} without an answer"] * (counted > 0)
    for notice in (*rows.notices, *unanswered):
        say(notice)
    if save is not None:
        certificate.save(save)
    matrix = rows.confusion(delta, n_candidates) if confusion else None
    if json:
        about = {"unlabelled": rows.unlabelled, "fitted_rows": rows.fitted, "notes": said()}
        more = {} if matrix is None else {"confusion": matrix.to_dict()}
        console.as_json({"certificate": certificate.to_dict(), **about, **more})
        return
    print(certificate.describe())
    if matrix is not None:
        print(f"\n{matrix.describe()}")
    if save is not None:
        print(f"\nCertificate written to {save}.")


def _one_of(wanted: dict[str, Any]) -> str:
    """The name of what is asked for of a threshold, empty if nothing is; more than one is wrong use."""
    given = [name for name, value in wanted.items() if value is not None]
    if len(given) > 1:
        names = " and ".join("--" + name.replace("_", "-") for name in given)
        raise UsageError(f"{names} ask for a threshold each: give one.")
    return given[0] if given else ""


def _signed(costs: "dict[tuple[str, str], float] | None", positive: str) -> "dict[tuple[str, str], float] | None":
    """Costs by "positive" and "negative" instead of labels.

    Examples
    --------
    >>> _signed({("ill", "well"): 10.0}, "ill")
    {('positive', 'negative'): 10.0}
    """
    if costs is None:
        return None
    name = {True: "positive", False: "negative"}
    return {(name[truth == positive], name[answer == positive]): cost for (truth, answer), cost in costs.items()}


ALARM = 3
"""Exit code where the evidence has reached its line."""


@guarded
def monitor(
    model: options.Model,
    table: Annotated[
        Path,
        typer.Argument(metavar="LABELLED", readable=False, help="New rows in their order, with their labels."),
    ],
    state: Annotated[Path, typer.Option(metavar="FILE", help="What has been seen so far; created if missing.")],
    alpha: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Probability of ever raising a false alarm; 0.01 by default."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The promised error; by default that of the model's certificate."),
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
    from abnet.cli.jobs.inputs import check_output
    from abnet.cli.jobs.judge_table import watch_model

    check_output(state, "JSON", inputs=(model, table), option="--state")
    if picture is not None:
        check_output(picture, "picture", inputs=(model, table, state), option="--picture")
    outcome = watch_model(model, table, state, error=error, alpha=alpha, truth=truth, picture=picture)
    for notice in outcome.notices:
        say(notice)
    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
    else:
        print(outcome.monitor.describe())
    if outcome.monitor.alarm:
        raise typer.Exit(ALARM)
