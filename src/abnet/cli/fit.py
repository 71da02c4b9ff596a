"""`abnet fit`: the command, and what it prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import guarded, note

if TYPE_CHECKING:
    from abnet.cli.jobs.fit_table import FitOutcome
    from abnet.cli.jobs.rivals import HoldOut

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
    max_categories: options.MaxCategories = 20,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    json: options.AsJSON = False,
    model: Annotated[
        str, typer.Option(metavar="NAME", rich_help_panel="Network", help="'abnet', or 'pbgnet': its mean field.")
    ] = "abnet",
    hidden_layer_sizes: options.HiddenLayerSizes = "4,4",
    aggregation: options.Aggregation = "exact",
    n_samples: options.NSamples = 100,
    objective: options.Objective = "bound",
    prior: options.Prior = "auto",
    posterior: options.Posterior = "auto",
    prior_fraction: options.PriorFraction = 0.5,
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
    batch_size: options.BatchSize = "auto",
    learning_rate_init: options.LearningRateInit = 0.01,
    max_iter: options.MaxIter = 100,
    n_iter_no_change: options.NIterNoChange = 20,
    tol: options.Tol = 1e-4,
    validation_fraction: options.ValidationFraction = 0.2,
    random_state: options.RandomState = 0,
) -> None:
    """Learn a classifier from a table, certify it, and write it to a model file.

    Numbers, truths, dates, text and missing values are prepared by rules that
    are learned from the first part of the rows only, and stored in the model.
    Ctrl-C ends learning early and keeps the best network so far, with a valid
    certificate.

    abnet fit patients.csv --target diagnosis
    abnet fit patients.csv --target diagnosis --drop id --posterior frozen
    abnet fit sales.parquet --target bought --hidden-layer-sizes 8,8 --json
    """
    from abnet.atomic import check_writable
    from abnet.cli.jobs.fit_table import fit_table

    check_writable(output)
    settings = options.settings(context)
    outcome = fit_table(
        table, target, output, model=model, settings=settings, drop=drop or [], max_categories=max_categories,
        verbose=not quiet,
    )  # fmt: skip
    for notice in outcome.notices:
        note(f"note: {notice}")
    show_fit(outcome, json)


def show_fit(outcome: "FitOutcome", json: bool) -> None:
    """The certificate, what a hold-out bound gives on the same rows, and where the model is."""
    if json:
        show.as_json(outcome.to_dict())
        return
    labels, size = " or ".join(outcome.classes), show.count(outcome.n_rows, "row")
    print(f"Learned {outcome.target!r} ({labels}) from {size} and {show.count(outcome.n_columns, 'column')}.\n")
    print(outcome.promise(), end="\n\n")
    comparison(outcome.vote_bound, outcome.rivals)
    replaced = ", in place of an older file" if outcome.replaced else ""
    print(f"Model written to {outcome.output} ({show.kilobytes(outcome.size)}{replaced}).")
    print(f"Predict with:  abnet predict {outcome.output} NEW_TABLE")


def comparison(vote_bound: float | None, rivals: "tuple[HoldOut, ...]") -> None:
    """The certificate beside plain hold-out bounds, with the better one named whichever it is."""
    from abnet.bounds.wording import percent, percent_up

    own = [["this model", "-" if vote_bound is None else percent_up(vote_bound), ""]]
    others = [
        [rival.name, percent_up(rival.bound), f"{percent(rival.errors / rival.n_examples)} of {rival.n_examples:,}"]
        for rival in rivals
    ]
    show.paragraph("For comparison, what a plain hold-out (Clopper-Pearson) bound gives on the same rows:")
    show.rows(["", "error at most", "errors seen"], [*own, *others])
    print()
    show.paragraph(_verdict(vote_bound, rivals))


def _verdict(vote_bound: float | None, rivals: "tuple[HoldOut, ...]") -> str:
    best = min(rivals, key=lambda rival: rival.bound)
    alone = "Each figure holds by itself; choosing the smallest after looking is not covered."
    if vote_bound is None:
        return f"Only the plain hold-out bound certifies anything here: {best.name}."
    if vote_bound <= best.bound:
        return f"The certificate of this model is the tightest. {alone}"
    hint = " (--posterior frozen gives this model that bound)" if best.same_network else ""
    return f"The plain hold-out bound is tighter here: {best.name}{hint}. {alone}"
