"""`abnet certify` and `abnet monitor`: a model's errors on labelled rows, once and again and again."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.console import UsageError, guarded, said, say

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.certify import Terms
    from abnet.certificates.goals import Goal
    from abnet.certificates.statement import Estimate
    from abnet.cli.jobs.judge_table import JudgedTable

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
        int | None,
        typer.Option(
            min=0,
            metavar="NUMBER",
            rich_help_panel="Certificate",
            help="Seed of that choice, and of the order of bets. \\[default: drawn anew]",
        ),
    ] = None,
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
    allow_training_rows: Annotated[
        bool,
        typer.Option(
            "--allow-training-rows", metavar="", help="Take rows that the model learned from, for an estimate only."
        ),
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
    Rows that the model learned from are refused (exit code 1).

    abnet certify model.abnet fresh.csv
    abnet certify model.abnet fresh.csv --confusion
    abnet certify model.abnet fresh.csv --by hospital
    abnet certify model.abnet fresh.csv --group patient --save certificate.json
    abnet certify predictions.csv --truth diagnosis --prediction answer
    abnet certify predictions.csv --truth diagnosis --score risk \\
        --target-recall 0.95 --positive-class ill
    """
    from abnet.certificates.certify import Terms
    from abnet.cli.jobs.inputs import check_output
    from abnet.decisions.training_rows import estimate_error, refuse_fitted

    targets = {"target_error": target_error, "target_recall": target_recall, "target_precision": target_precision}
    options.check_levels(delta=delta, aside=aside, **targets)
    options.check_counted(n_candidates)
    wanted = _Wanted({**targets, "costs": options.costs_of(costs or [])}, by, group, positive_class, confusion)
    wanted.check()
    if allow_training_rows and (wanted.columns or wanted.decides or confusion):
        raise UsageError("--allow-training-rows gives an estimate of the error: leave out what is to be certified.")
    if save is not None:
        inputs = [path for path in (model, table) if path is not None]
        check_output(save, "JSON", inputs=inputs, overwrite=overwrite, option="--save")
    if prediction is None and score is None:
        rows = _of_model(model, table, truth, wanted)
    else:
        rows = _of_predictions(model, table, truth, prediction, score, wanted)
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    made: Certificate | Estimate
    if allow_training_rows:
        made = estimate_error(rows.judged().wrong, rows.seen)
    else:
        refuse_fitted(rows.seen)
        made = _certified(rows, wanted, aside, random_state, terms)
    what = "estimate" if allow_training_rows else "certificate"
    for notice in rows.notices:
        say(notice)
    if save is not None:
        made.save(save)
    matrix = rows.confusion(terms) if confusion else None
    if json:
        about = {
            "unlabelled": rows.unlabelled,
            "fitted_rows": None if rows.seen is None else rows.seen.found,
            "notes": said(),
        }
        more = {} if matrix is None else {"confusion": matrix.to_dict()}
        console.as_json({what: made.to_dict(), **about, **more})
        return
    print(made.describe())
    if matrix is not None:
        print(f"\n{matrix.describe()}")
    if save is not None:
        print(f"\n{what.capitalize()} written to {save}.")


@dataclass(frozen=True)
class _Wanted:
    """What is to be certified: a threshold for a target or costs, populations, groups, or the error of all rows."""

    targets: dict[str, Any]
    by: str | None
    group: str | None
    positive_class: str | None
    confusion: bool

    @property
    def decides(self) -> str:
        """The name of what is asked for of a threshold, empty if nothing is; more than one is wrong use."""
        given = [name for name, value in self.targets.items() if value is not None]
        if len(given) > 1:
            names = " and ".join("--" + name.replace("_", "-") for name in given)
            raise UsageError(f"{names} ask for a threshold each: give one.")
        return given[0] if given else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns to keep of the table."""
        return tuple(name for name in (self.by, self.group) if name is not None)

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.confusion and (self.columns or self.decides):
            raise UsageError("--confusion counts all rows as independent ones: leave out --by, --group and targets.")
        if len(self.columns) > 1:
            raise UsageError("give --by or --group, not both: no bound for populations of groups is offered.")
        if self.decides and self.columns:
            raise UsageError("a target or costs count single rows: leave out --by and --group.")
        if self.decides not in ("", "target_error") and self.positive_class is None:
            raise UsageError(f"--{self.decides.replace('_', '-')} needs --positive-class: name the class.")


def _of_model(model: Path, table: Path | None, truth: str | None, wanted: _Wanted) -> "JudgedTable":
    """The rows of a table, answered by a model of ours."""
    from abnet.cli.jobs.judge_table import judge_model_file

    if table is None:
        raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
    label = ("" if wanted.decides == "target_error" else str(wanted.positive_class)) if wanted.decides else None
    loaded, rows = judge_model_file(model, table, truth=truth, columns=wanted.columns, scored=label)
    if wanted.group is None:
        rows.check_alone(loaded)
    return rows


def _of_predictions(
    predictions: Path, table: Path | None, truth: str | None, prediction: str | None, score: str | None, wanted: _Wanted
) -> "JudgedTable":
    """The rows of a table that holds the answers, or the scores, of a model that lives elsewhere."""
    from abnet.cli.jobs.judge_table import judge_predictions

    if table is not None or truth is None:
        raise UsageError("--prediction goes with one table and --truth: abnet certify PREDICTIONS --truth COLUMN.")
    if truth in (prediction, score):
        raise UsageError(f"column {truth!r} cannot be the truth and the model's answer or score: name another one.")
    if (score is not None) != bool(wanted.decides) or (prediction is None and wanted.decides == "target_error"):
        raise UsageError("--score goes with a target or costs, and --target-error with --prediction too.")
    return judge_predictions(predictions, truth=truth, prediction=prediction, columns=wanted.columns, score=score)


def _certified(
    rows: "JudgedTable", wanted: _Wanted, aside: float, random_state: int | None, terms: "Terms"
) -> "Certificate":
    """The certificate that is asked for."""
    import numpy as np

    from abnet.certificates.split import drawn_seed, row_hashes, row_order
    from abnet.cli.jobs.inputs import label_text
    from abnet.decisions.certify_model import certify_judged
    from abnet.decisions.scores import certify_scores

    if not wanted.decides:
        groups = None if wanted.group is None else rows.groups(wanted.group)
        by = None if wanted.by is None else rows.populations(wanted.by)
        shown = {"truth": np.array(rows.truth, object), "answer": np.array(rows.answers, object)}
        order = row_order(row_hashes(shown), drawn_seed(random_state), groups)
        return certify_judged(rows.judged(), terms, order, groups=groups, by=by)
    positive = None if wanted.positive_class is None else label_text(wanted.positive_class)
    rows.judged()  # refuses a table without labels
    return certify_scores(
        rows.scores, rows.truth, _goal(rows, wanted, positive), answers=np.array(rows.answers, object),
        positive=positive, aside=aside, random_state=random_state, delta=terms.delta, n_candidates=terms.n_candidates,
    )  # fmt: skip


def _goal(rows: "JudgedTable", wanted: _Wanted, positive: str | None) -> "Goal":
    from abnet.certificates.goals import Costs, TargetError, TargetPrecision, TargetRecall

    value = wanted.targets[wanted.decides]
    if wanted.decides == "target_error":
        return TargetError(value)
    if wanted.decides == "costs":
        return Costs(rows.check_costs(value, str(positive)))
    return (TargetRecall if wanted.decides == "target_recall" else TargetPrecision)(value, positive=positive)


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
        typer.Option(metavar="NUMBER", help="Probability of ever raising a false alarm. \\[default: 0.01]"),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The promised error. \\[default: the model's certificate]"),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels; by default the one that the model predicts."),
    ] = None,
    allow_repeat: Annotated[
        bool, typer.Option("--allow-repeat", metavar="", help="Count a table that equals one that was given before.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the evidence over the rows of this table (PNG or SVG).")
    ] = None,
    json: options.AsJSON = False,
) -> None:
    """Watch a deployed model: is there evidence that it errs more often than was promised?

    Give each labelled row once, in order, in as many calls as you like; a table
    that was given before is refused (exit code 1). Exit code 0: no alarm; 3:
    alarm. The state is replaced in one step, so that a job
    that is killed leaves the old one or the new one.

    abnet monitor model.abnet monday.csv --state watch.json
    abnet monitor model.abnet tuesday.csv --state watch.json --picture evidence.png
    """
    from abnet.cli.jobs.inputs import check_output
    from abnet.cli.jobs.judge_table import watch_model

    options.check_levels(alpha=alpha, error=error)
    check_output(state, "JSON", inputs=(model, table), option="--state")
    if picture is not None:
        check_output(picture, "picture", inputs=(model, table, state), option="--picture")
    outcome = watch_model(
        model, table, state, error=error, alpha=alpha, truth=truth, picture=picture, allow_repeat=allow_repeat
    )
    for notice in outcome.notices:
        say(notice)
    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
    else:
        print(outcome.monitor.describe())
    if outcome.monitor.alarm:
        raise typer.Exit(ALARM)
