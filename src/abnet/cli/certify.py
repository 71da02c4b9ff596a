"""`abnet certify`: a certificate from labelled rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.exit_codes import UsageError
from abnet.cli.goal_options import with_goal_options
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.goals import Goal
    from abnet.model.certify_table import CertifiedTable

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
WithGaps = Annotated[
    bool,
    options.flag(
        "--gaps",
        "With --by: limits on both sides for every group, and the largest gap between two; with --positive-class also "
        "in true-positive, false-positive and selection rate.",
    ),
]
Counterfactual = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[=VALUES]",
        help="Certify how many answers change if only this column is changed; needs no labels. VALUES such as f,m are "
        "by default those of the training rows.",
    ),
]
Mix = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=SHARE",
        help="Also bound the error where the classes have these shares, such as fraud=0.01; repeatable, and one class "
        "may be left out.",
    ),
]
NewRows = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        readable=False,
        help="Unlabelled rows of new data: also bound the error there, if only the shares of the classes differ.",
    ),
]
Together = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column that says which rows belong together, such as a patient.")
]
Confusion = Annotated[bool, options.flag("--confusion", "Also show the confusion matrix, with confidence limits.")]
AllowTrainingRows = Annotated[
    bool, options.flag("--allow-training-rows", "Accept training rows; the result is only an estimate.")
]
SameAs = Annotated[
    Path | None,
    typer.Option(
        metavar="ANSWERS",
        readable=False,
        help="Certify a copy of the model, such as an exported one, by its answers (--prediction) to unlabelled rows.",
    ),
]
Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the certificate as JSON; `abnet inspect` reads it.")
]
Aside = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        rich_help_panel="Certificate",
        help="For costs: share of the rows, chosen at random, that sets the threshold; 0.3 by default.",
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
@with_goal_options
def certify(
    context: typer.Context,
    model: Answered,
    table: HeldOut = None,
    truth: options.Truth = None,
    prediction: Prediction = None,
    score: Score = None,
    by: By = None,
    gaps: WithGaps = False,
    counterfactual: Counterfactual = None,
    mix: Mix = None,
    new_rows: NewRows = None,
    group: Together = None,
    confusion: Confusion = False,
    same_as: SameAs = None,
    allow_training_rows: AllowTrainingRows = False,
    allow_shift: options.AllowShift = False,
    save: Save = None,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
    goal: "Goal | None" = None,
    sets: options.PredictionSets = None,
    sets_by_class: options.SetsByClass = False,
    joint: options.Joint = None,
    aside: Aside = None,
    random_state: Seed = None,
) -> None:
    """Certify a fitted model on labelled rows that were held out from training.

    The model is an abnet model file, or the predictions of any other model in a
    table. Rows that the model was trained on are refused (exit code 1). A missing
    answer and an unknown label count as errors. With costs, some of the
    rows set the threshold and the others certify it.

    abnet certify model.abnet fresh.csv
    abnet certify model.abnet fresh.csv --confusion
    abnet certify model.abnet fresh.csv --by hospital
    abnet certify model.abnet fresh.csv --sets 0.1 --save sets.json
    abnet certify model.abnet fresh.csv --joint "error rate" --joint classes
    abnet certify model.abnet fresh.csv --by sex --gaps --positive-class ill
    abnet certify model.abnet fresh.csv --counterfactual sex
    abnet certify model.abnet fresh.csv --mix fraud=0.01
    abnet certify model.abnet fresh.csv --new-rows unlabelled.csv
    abnet certify model.abnet fresh.csv --group patient --save certificate.json
    abnet certify model.abnet --same-as device.csv --prediction answer
    abnet certify predictions.csv --truth diagnosis --prediction answer
    abnet certify predictions.csv --truth diagnosis --score risk \\
        --target-recall 0.95 --positive-class ill
    """
    from abnet.cli.outputs import check_output

    if save is not None:
        check_output(save, "JSON", inputs=(model, table, same_as, new_rows), overwrite=overwrite, option="--save")
    values = context.params
    if confusion and (by or group or goal is not None or allow_training_rows):
        raise UsageError("--confusion counts all rows as independent: leave out --by, --group, targets and costs.")
    if same_as is not None:
        _certify_copy(values, goal)
        return
    if counterfactual is not None:
        _certify_counterfactual(values, goal)
        return
    with stage_bars("Starting", hidden=json):
        certified = _certified(values, goal)
    console.show_notes(certified.notes)
    if save is not None:
        certified.made.save(save)
    matrix = None
    if confusion:
        matrix = certified.confusion()
    if json:
        record = {**certified.to_dict(), "notes": console.shown_notes()}
        if matrix is not None:
            record["confusion"] = matrix.to_dict()
        console.as_json(record)
        return
    sections = certified.describe().split("\n\n")
    if matrix is not None:
        # The two texts end with the same assumptions, which are printed once.
        sections += [section for section in matrix.describe().split("\n\n") if section not in sections]
    regions = _regions(certified)
    if regions:
        sections.append(regions)
    print("\n\n".join(sections))
    if save is not None:
        print(f"\n{certified.kind.capitalize()} written to {save}.")


def _regions(certified: "CertifiedTable") -> str:
    """The error rates by region, if the model has regions."""
    from abnet.certificates.certificate import Certificate
    from abnet.explanation.certified_region import certified_regions

    if not isinstance(certified.made, Certificate):
        return ""
    regions = certified_regions(certified.made)
    if regions is None:
        return ""
    return regions.describe()


def _certify_copy(values: dict[str, Any], goal: "Goal | None") -> None:
    """Certify another program by its answers to unlabelled rows."""
    from abnet.model.certify_copy import certify_copy

    if values["prediction"] is None:
        raise UsageError("--same-as needs --prediction: the column with the answers of the other program.")
    if goal is not None or values["table"] or any(values[name] for name in ABOUT_LABELS):
        raise UsageError("--same-as certifies a copy by its answers alone: leave out labelled rows and targets.")
    made = certify_copy(
        values["model"],
        values["same_as"],
        prediction=values["prediction"],
        delta=values["delta"],
        n_candidates=values["n_candidates"],
    )
    _show_alone(made, values)


def _certify_counterfactual(values: dict[str, Any], goal: "Goal | None") -> None:
    """Certify how many answers depend on one column; labels are not used."""
    from abnet.certificates.counterfactual import certify_counterfactual
    from abnet.model.table_rows import as_model, whole_table

    if values["table"] is None:
        raise UsageError("--counterfactual needs a model and a table: abnet certify MODEL TABLE --counterfactual sex.")
    if goal is not None or any(values[name] for name in (*ABOUT_LABELS, "prediction")):
        raise UsageError("--counterfactual compares the model's answers with each other: leave out other promises.")
    column, _, listed = values["counterfactual"].partition("=")
    model = as_model(values["model"])
    tried = model.column_values(column)
    if listed:
        tried = tuple(value.strip() for value in listed.split(","))
    if tried is None:
        raise UsageError(
            f"the model does not know which values column {column!r} may have: name those to try, as in "
            f"--counterfactual {column}=A,B."
        )
    made = certify_counterfactual(
        model,
        whole_table(values["table"]),
        column,
        values=tried,
        delta=values["delta"],
        n_candidates=values["n_candidates"],
    )
    _show_alone(made, values)


def _show_alone(made: "Certificate", values: dict[str, Any]) -> None:
    """Print and save a certificate that has no error rate of the model's answers."""
    if values["save"] is not None:
        made.save(values["save"])
    if values["json"]:
        console.as_json({"certificate": made.to_dict()})
        return
    print(made)


ABOUT_LABELS = (
    "truth", "score", "by", "gaps", "mix", "new_rows", "group", "confusion", "allow_training_rows",
    "sets", "sets_by_class", "joint", "aside",
)  # fmt: skip
"""Options of certificates that need labels."""

SHARED = ("by", "group", "aside", "random_state", "delta", "n_candidates")
"""Options of a certificate, whether an abnet model or another one made the predictions."""


def _certified(values: dict[str, Any], goal: "Goal | None") -> "CertifiedTable":
    """The certificate of a model file, or of the predictions in a table."""
    from abnet.model.certify_table import certify_predictions, certify_table

    if values["mix"] or values["new_rows"] is not None:
        if values["sets"] is not None or values["sets_by_class"] or values["joint"]:
            raise UsageError("--mix and --new-rows certify one statement: leave out --sets and --joint.")
        return _certified_mix(values, goal)
    shared = {name: values[name] for name in SHARED}
    shared["joint"] = options.joint_of(values)
    sets = options.sets_of(values)
    if values["gaps"]:
        from abnet.certificates.requests import Gaps

        if values["by"] is None or goal is not None:
            raise UsageError("--gaps needs --by, the column with the groups, and goes with no target or costs.")
        shared["by"] = Gaps(values["by"], values["positive_class"])
    if values["prediction"] is None and values["score"] is None:
        if values["table"] is None:
            raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
        return certify_table(
            values["model"],
            values["table"],
            truth=values["truth"],
            allow_training_rows=values["allow_training_rows"],
            allow_shift=values["allow_shift"],
            goal=goal,
            sets=sets,
            **shared,
        )
    if sets is not None:
        raise UsageError("--sets needs a model file: for other models, use abnet.prediction_sets in Python.")
    if values["table"] is not None or values["truth"] is None or values["allow_training_rows"]:
        raise UsageError("--prediction and --score go with one table and --truth: abnet certify TABLE --truth COLUMN.")
    return certify_predictions(
        values["model"],
        truth=values["truth"],
        prediction=values["prediction"],
        score=values["score"],
        positive_class=_class_of_scores(values),
        goal=goal,
        **shared,
    )


def _class_of_scores(values: dict[str, Any]) -> str | None:
    """The class that scores belong to; with --gaps, the class is about answers."""
    if values["gaps"]:
        return None
    found: str | None = values["positive_class"]
    return found


def _certified_mix(values: dict[str, Any], goal: "Goal | None") -> "CertifiedTable":
    """The certificate at another class mix, of a model file or of the predictions in a table."""
    from abnet.model.certify_table import certify_mix

    others = ("by", "gaps", "group", "score", "allow_training_rows", "aside")
    if goal is not None or any(values[name] for name in others):
        raise UsageError("--mix and --new-rows are about the error rate of all rows: leave out other promises.")
    model = values["model"]
    table = values["table"]
    if values["prediction"] is not None:
        if table is not None:
            raise UsageError("--prediction goes with one table and --truth: abnet certify TABLE --truth COLUMN.")
        table = model
        model = None
    elif table is None:
        raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
    return certify_mix(
        model,
        table,
        mix=_shares(values["mix"]),
        new_rows=values["new_rows"],
        truth=values["truth"],
        prediction=values["prediction"],
        delta=values["delta"],
        n_candidates=values["n_candidates"],
        allow_shift=values["allow_shift"],
    )


def _shares(texts: list[str] | None) -> dict[str, float] | None:
    """Shares of classes, as the option --mix writes them."""
    if not texts:
        return None
    shares: dict[str, float] = {}
    for text in texts:
        label, equals, share = text.rpartition("=")
        try:
            shares[label] = float(share)
        except ValueError:
            equals = ""
        if not equals or not label:
            raise UsageError(f"--mix takes LABEL=SHARE, such as fraud=0.01; got {text!r}.")
    return shares
