"""`abnet certify`: a certificate from labelled rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.console import UsageError, guarded

if TYPE_CHECKING:
    from abnet.certificates.certify_table import CertifiedTable

__all__ = ["certify"]


Answered = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="Model file, or a table with predictions.")
]
HeldOut = Annotated[
    Path | None, typer.Argument(metavar="TABLE", readable=False, help="Labelled rows, held out from training.")
]
Prediction = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the answers of another model.")]
Score = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the scores of another model: how sure it is of its answer (for --target-error), or how "
        "strongly it favours --positive-class.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column that names each row's population; each gets a bound, and they hold jointly."
    ),
]
Together = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column that says which rows belong together, such as a patient.")
]
Confusion = Annotated[bool, options.flag("--confusion", "Also show the confusion matrix, with confidence limits.")]
AllowTrainingRows = Annotated[
    bool, options.flag("--allow-training-rows", "Accept training rows; the result is only an estimate.")
]
Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the certificate as JSON; `abnet inspect` reads it.")
]
Aside = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        rich_help_panel="Certificate",
        help="Share of the rows, chosen at random, that sets the threshold of a target or of costs.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        rich_help_panel="Certificate",
        show_default="a new one each time",
        help="Seed for choosing these rows, and for the order of groups in their bound.",
    ),
]


@guarded
def certify(
    context: typer.Context,
    model: Answered,
    table: HeldOut = None,
    truth: options.Truth = None,
    prediction: Prediction = None,
    score: Score = None,
    by: By = None,
    group: Together = None,
    confusion: Confusion = False,
    allow_training_rows: AllowTrainingRows = False,
    allow_shift: options.AllowShift = False,
    save: Save = None,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
    target_error: options.TargetError = None,
    target_recall: options.TargetRecall = None,
    target_precision: options.TargetPrecision = None,
    positive_class: options.PositiveClass = None,
    costs: options.Costs = None,
    aside: Aside = 0.3,
    random_state: Seed = None,
) -> None:
    """Certify a fitted model on labelled rows that were held out from training.

    The model is an abnet model file, or the predictions of any other model in a
    table. Rows that the model was trained on are refused (exit code 1). A missing
    answer and an unknown label count as errors. With a target or costs, some of
    the rows set the threshold and the others certify it.

    abnet certify model.abnet fresh.csv
    abnet certify model.abnet fresh.csv --confusion
    abnet certify model.abnet fresh.csv --by hospital
    abnet certify model.abnet fresh.csv --group patient --save certificate.json
    abnet certify predictions.csv --truth diagnosis --prediction answer
    abnet certify predictions.csv --truth diagnosis --score risk \\
        --target-recall 0.95 --positive-class ill
    """
    from abnet.cli.outputs import check_output

    if save is not None:
        check_output(save, "JSON", inputs=(model, table), overwrite=overwrite, option="--save")
    given = context.params
    goal = options.goal_of(given)
    if confusion and (by or group or goal is not None or allow_training_rows):
        raise UsageError("--confusion counts all rows as independent: leave out --by, --group, targets and costs.")
    with console.bar("Starting", quiet=json):
        made = _certified(given, goal)
    console.say_all(made.notes)
    if save is not None:
        made.made.save(save)
    matrix = made.confusion() if confusion else None
    if json:
        more = {} if matrix is None else {"confusion": matrix.to_dict()}
        console.as_json({**made.to_dict(), "notes": console.said(), **more})
        return
    told = made.describe().split("\n\n")
    if matrix is not None:
        told += [part for part in matrix.describe().split("\n\n") if part not in told]  # they assume the same
    print("\n\n".join(told))
    if save is not None:
        print(f"\n{made.kind.capitalize()} written to {save}.")


SHARED = ("by", "group", "aside", "random_state", "delta", "n_candidates")


def _certified(given: dict[str, Any], goal: Any) -> "CertifiedTable":
    from abnet.certificates.certify_table import certify_predictions, certify_table

    shared = {"goal": goal, **{name: given[name] for name in SHARED}}
    if given["prediction"] is None and given["score"] is None:
        if given["table"] is None:
            raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
        return certify_table(
            given["model"],
            given["table"],
            truth=given["truth"],
            allow_training_rows=given["allow_training_rows"],
            allow_shift=given["allow_shift"],
            **shared,
        )
    if given["table"] is not None or given["truth"] is None or given["allow_training_rows"]:
        raise UsageError("--prediction and --score go with one table and --truth: abnet certify TABLE --truth COLUMN.")
    return certify_predictions(
        given["model"],
        truth=given["truth"],
        prediction=given["prediction"],
        score=given["score"],
        positive_class=given["positive_class"],
        **shared,
    )
