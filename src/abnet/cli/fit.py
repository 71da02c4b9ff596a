"""`abnet fit`: the command, and what it prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abnet.cli import console, options
from abnet.cli.goal_options import with_goal_options
from abnet.cli.guarded import guarded
from abnet.cli.interrupts import when_interrupted
from abnet.utils.progress import stage_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abnet.certificates.certificate import Certificate
    from abnet.certificates.goals import Goal
    from abnet.certificates.trade_off import TradeOff
    from abnet.estimators.fitted_table import FittedTable
    from abnet.model.card import Rival

__all__ = ["comparison", "fit", "show_fit"]


@guarded
@with_goal_options
def fit(
    context: typer.Context,
    table: options.Table,
    target: options.Target,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Model file to write.")] = Path(
        "model.abnet"
    ),
    drop: options.Drop = None,
    use: options.Use = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    dates: options.DateColumn = None,
    missing_label: options.MissingLabel = "drop",
    bins: options.Bins = None,
    notes: options.Notes = "main",
    group: options.GroupColumn = None,
    time: options.TimeColumn = None,
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
    details: options.Details = False,
    thresholds: Annotated[
        bool,
        options.flag(
            "--thresholds",
            "Show a table of thresholds to choose a target from.",
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    no_background: Annotated[
        bool,
        options.flag(
            "--no-background",
            "Keep no training rows in the model file. By default up to 25 are kept for `abnet explain`.",
            rare=True,
        ),
    ] = False,
    decimal: options.Decimal = "auto",
    max_categories: options.MaxCategories = 200,
    max_learn_rows: options.MaxLearnRows = 1_000_000,
    learn_fraction: options.LearnFraction = "auto",
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
    goal: "Goal | None" = None,
    sets: options.PredictionSets = None,
    sets_by_class: options.SetsByClass = False,
    joint: options.Joint = None,
    class_weight: options.ClassWeight = None,
    random_state: options.RandomState = None,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    n_estimators: options.NEstimators = "auto",
    teacher: options.Teacher = "auto",
    codes: options.Codes = "auto",
    max_iter: options.MaxIter = 100,
) -> None:
    """Train a classifier on a table, certify it, and write it to a model file.

    Numbers, booleans, dates, text and missing values are prepared by rules that
    are learned from the training rows only and stored in the model. The bound on
    the error rate is computed from held-out rows. Ctrl-C stops as soon as the
    step in progress is done, and writes nothing.

    abnet fit patients.csv --target diagnosis
    abnet fit patients.csv --target diagnosis --target-error 0.02
    abnet fit patients.csv --target diagnosis --target-recall 0.95 \\
        --positive-class ill
    abnet fit visits.csv --target diagnosis --group patient
    abnet fit visits.csv --target diagnosis --time date
    """
    from abnet.cli.outputs import check_output

    check_output(output, "model", inputs=[table], overwrite=overwrite)
    bar = stage_bars("Starting", hidden=quiet)
    with when_interrupted("interrupted; nothing was written."), bar:
        from abnet.estimators.fit_table import fit_table

        classifier = options.classifier(context.params, goal=goal)
        fitted = fit_table(
            table,
            target,
            estimator=classifier,
            drop=drop or [],
            group=group,
            time=time,
            max_learn_rows=max_learn_rows,
            missing_label=missing_label,
            bins=options.bins_of(bins),
            output=output,
            background=not no_background,
            command=options.command_line(context, classifier.random_state),
        )
    outcome = fitted.table_
    console.show_notes(outcome.notes, every=notes == "all")
    if json:
        console.as_json({**outcome.to_dict(), "notes": console.shown_notes(), "note_data": console.recorded_notes()})
        return
    trade_offs = []
    for trade_off in outcome.card.trade_offs:
        if thresholds or (goal is not None and goal.concerns(trade_off)):
            trade_offs.append(trade_off)
    show_fit(outcome, details=details, trade_offs=trade_offs)


MOST_NAMED = 4
"""Classes that the first line names; the table below names all of them."""


def show_fit(outcome: "FittedTable", *, details: bool = False, trade_offs: "Sequence[TradeOff]" = ()) -> None:
    """The certificate, what other thresholds reach, test-set bounds of other models, and where the model is."""
    from abnet.utils.wording import number_of

    if outcome.headline:
        console.paragraph(outcome.headline)
    _show_table(outcome)
    print(outcome.promise(details=details), end="\n\n")
    for trade_off in trade_offs:
        print(trade_off, end="\n\n")
    comparison(outcome.certificate, outcome.rivals)
    print(f"Model written to {outcome.output} ({console.file_size(outcome.size)}{console.replaced(outcome.replaced)}).")
    print(f"Predict with:  abnet predict {outcome.output} NEW_TABLE")
    print(f"Explain with:  abnet explain {outcome.output} NEW_TABLE --row 1")
    if outcome.n_background:
        rows = number_of(outcome.n_background, "training row")
        print()
        console.paragraph(f"The model file keeps {rows} for explanations; --no-background leaves them out.", end="\n")


def _show_table(outcome: "FittedTable") -> None:
    """Target, classes and size of the table, and the recipe of the model."""
    from abnet.utils.wording import number_of

    if len(outcome.classes) == 2:
        classes = " or ".join(outcome.classes)
    elif len(outcome.classes) <= MOST_NAMED:
        classes = ", ".join(outcome.classes)
    else:
        classes = f"{len(outcome.classes)} classes"
    rows = number_of(outcome.n_rows, "row")
    columns = number_of(outcome.n_columns, "column")
    text = f"Target {outcome.target!r} ({classes}); {rows}, {columns}."
    recipe = outcome.card.recipe
    if not recipe:
        console.paragraph(text)
        return
    console.paragraph(text, end="\n")
    console.paragraph(f"Recipe: {recipe}.")


def comparison(certificate: "Certificate | None", rivals: "tuple[Rival, ...]") -> None:
    """The certificate beside test-set bounds, with the better one named whichever it is."""
    from abnet.utils.wording import percent_up

    name = "this model"
    bound = "-"
    errors = ""
    kind = "error rate (Clopper-Pearson)"
    vote_bound = None
    if certificate is not None:
        facts = certificate.facts
        errors = _error_share(sum(facts.class_errors), facts.n_rows)
        vote_bound = certificate.vote_error_bound
        if vote_bound is not None:
            bound = percent_up(vote_bound)
        if certificate.counts_plain_vote:
            name = "this model, by its plain vote"
        if facts.n_groups is not None:
            kind = "error on a new group (by betting)"
    table = [[name, bound, errors]]
    for rival in rivals:
        table.append([rival.name, percent_up(rival.bound), _error_share(rival.errors, rival.n_examples)])
    console.paragraph(f"For comparison, upper bounds on the {kind} from the same held-out rows:")
    console.rows(["", "error rate (upper bound)", "errors seen"], table, least=2)
    print()
    console.paragraph(_verdict(vote_bound, rivals))


def _error_share(errors: int, n: int) -> str:
    from abnet.utils.wording import percent

    return f"{errors:,} of {n:,} ({percent(errors / n)})"


def _verdict(vote_bound: float | None, rivals: "tuple[Rival, ...]") -> str:
    """Which model has the lowest bound, and whether one may choose by it."""
    best = min(rivals, key=lambda rival: rival.bound)
    if vote_bound is None:
        return f"Only the bound of {best.name} is a certificate here."
    n_models = len(rivals) + 1
    if best.n_candidates >= n_models:
        choice = f"Every figure accounts for a choice among {best.n_candidates:,} models, so you may keep any of them."
    else:
        choice = (
            "Each figure holds by itself; choosing the smallest after looking is not covered "
            f"(use --n-candidates {n_models} to correct for that choice)."
        )
    if vote_bound == best.bound:
        return f"The bounds of this model and of {best.name} are equal. {choice}"
    if vote_bound < best.bound:
        return f"This model has the lowest bound. {choice}"
    return f"The bound of {best.name} is lower than the certificate of this model. {choice}"
