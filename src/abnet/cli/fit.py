"""`abnet fit`: the command, and what it prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abnet.cli import console, options
from abnet.cli.console import guarded, said, say

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.cli.jobs.fit_table import FitOutcome, Rival
    from abnet.model.card import Card

__all__ = ["comparison", "fit", "show_fit"]


@guarded
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
    group: options.GroupColumn = None,
    decimal: options.Decimal = "auto",
    max_categories: options.MaxCategories = 20,
    max_learn_rows: options.MaxLearnRows = 1_000_000,
    overwrite: options.Overwrite = False,
    no_background: Annotated[
        bool,
        typer.Option(
            "--no-background",
            metavar="",
            help="Keep no rows of the table in the model file; by default up to 25 rows of the first part are kept for "
            "`abnet explain` to compare with, and whoever has the file can read them.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    details: options.Details = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    n_estimators: options.NEstimators = "auto",
    teacher: options.Teacher = "auto",
    codes: options.Codes = "auto",
    learn_fraction: options.LearnFraction = "auto",
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
    target_error: options.TargetError = None,
    target_recall: options.TargetRecall = None,
    target_precision: options.TargetPrecision = None,
    positive_class: options.PositiveClass = None,
    costs: options.Costs = None,
    class_weight: options.ClassWeight = None,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = None,
) -> None:
    """Learn a classifier from a table, certify it, and write it to a model file.

    Numbers, booleans, dates, text and missing values are prepared by rules that
    are learned from the first part of the rows only, and stored in the model.
    Ctrl-C ends learning early and keeps the best network so far, with a valid
    certificate.

    abnet fit patients.csv --target diagnosis
    abnet fit patients.csv --target diagnosis --drop id --learn-fraction 0.7
    abnet fit patients.csv --target diagnosis --target-error 0.02
    abnet fit patients.csv --target diagnosis --target-recall 0.95 --positive-class ill
    abnet fit visits.csv --target diagnosis --group patient
    abnet fit sales.parquet --target bought --hidden-layer-sizes 8,8 --json
    zcat visits.csv.gz | abnet fit - --target left --use week
    """
    from abnet.cli.jobs.inputs import check_output

    check_output(output, "model", inputs=[table], overwrite=overwrite)
    from abnet.cli.jobs.fit_table import fit_table

    outcome = fit_table(
        table, target, output, settings=options.settings(context), drop=drop or [], group=group,
        preparation=options.preparation(
            max_categories, decimal, use=use, numeric=numeric, categorical=categorical, dates=dates
        ), max_learn_rows=max_learn_rows,
        verbose=not quiet, background=not no_background, command=options.command_line(context),
    )  # fmt: skip
    for notice in outcome.notices:
        say(notice)
    show_fit(outcome, json, details=details)


def show_fit(outcome: "FitOutcome", json: bool, *, details: bool = False) -> None:
    """The certificate, test-set bounds of other models on the same rows, and where the model is."""
    from abnet.words import number_of

    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
        return
    if outcome.headline:
        console.paragraph(outcome.headline)
    labels, size = " or ".join(outcome.classes), number_of(outcome.n_rows, "row")
    print(f"Learned {outcome.target!r} ({labels}) from {size} and {number_of(outcome.n_columns, 'column')}.")
    recipe = outcome.card.recipe
    print(f"Recipe: {recipe}.\n" if recipe else "")
    print(outcome.promise(details=details), end="\n\n")
    comparison(outcome.certificate, outcome.rivals)
    replaced = ", in place of an older file" if outcome.replaced else ""
    print(f"Model written to {outcome.output} ({console.kilobytes(outcome.size)}{replaced}).")
    print(f"Predict with:  abnet predict {outcome.output} NEW_TABLE{_way_to_answer(outcome.card)}")
    print(f"Explain with:  abnet explain {outcome.output} NEW_TABLE --row 1")
    if outcome.n_background:
        kept = number_of(outcome.n_background, "row")
        print(f"\nThe model file keeps {kept} of the first part to explain against; --no-background leaves them out.")


def _way_to_answer(card: "Card") -> str:
    """The option of `abnet predict` that keeps what was certified of a threshold."""
    ways = {"abstention": " --abstain", "decision": " --decide"}
    return "  or".join(way for name, way in ways.items() if card.decisions.get(name) is not None)


def comparison(certificate: "Certificate | None", rivals: "tuple[Rival, ...]") -> None:
    """The certificate beside test-set bounds, with the better one named whichever it is."""
    from abnet.words import percent, percent_up

    vote_bound = None if certificate is None else certificate.vote_error_bound
    seen = "" if certificate is None else _seen(sum(certificate.facts.class_errors), certificate.facts.n_rows)
    base = None if certificate is None else certificate.majority_class_error
    own = [
        [
            "this model",
            "-" if vote_bound is None else percent_up(vote_bound),
            seen,
            "" if base is None else percent(base),
        ]
    ]
    others = [
        [
            rival.name, percent_up(rival.bound), _seen(rival.errors, rival.n_examples),
            "" if rival.base_rate is None else percent(rival.base_rate),
        ]
        for rival in rivals
    ]  # fmt: skip
    grouped = certificate is not None and certificate.facts.n_groups is not None
    kind = "bounds on the error of a new group (by betting)" if grouped else "(Clopper-Pearson) bounds"
    console.paragraph(f"For comparison, test-set {kind} of models that were not trained on the held-out rows:")
    console.rows(["", "error rate (upper bound)", "errors seen", "majority-class error"], [*own, *others])
    print()
    console.paragraph(_verdict(vote_bound, rivals))


def _seen(errors: int, n: int) -> str:
    from abnet.words import percent

    return f"{percent(errors / n)} of {n:,}"


def _verdict(vote_bound: float | None, rivals: "tuple[Rival, ...]") -> str:
    best = min(rivals, key=lambda rival: rival.bound)
    n, paid = len(rivals) + (vote_bound is not None), best.n_candidates
    price = (
        f"Every figure accounts for a choice among {paid:,}, so that any may be kept."
        if paid >= n
        else "Each figure holds by itself; choosing the smallest after looking is not covered "
        f"(use --n-candidates {n} to correct for that choice)."
    )
    if vote_bound is None:
        return f"Only a test-set bound certifies anything here: that of {best.name}."
    if vote_bound == best.bound:
        return f"The certificate of this model and the bound of {best.name} are equal. {price}"
    if vote_bound < best.bound:
        return f"The certificate of this model is the tightest. {price}"
    return f"A test-set bound is tighter here: that of {best.name}. {price}"
