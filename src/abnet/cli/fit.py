"""`abnet fit`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options
from abnet.cli.guard import guarded, note

__all__ = ["fit"]


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
    from abnet.cli.jobs.fit import fit_table
    from abnet.cli.show_fit import show_fit
    from abnet.files import check_writable

    check_writable(output)
    settings = options.settings(context)
    outcome = fit_table(
        table, target, output, model=model, settings=settings, drop=drop or [], max_categories=max_categories,
        verbose=not quiet,
    )  # fmt: skip
    for notice in outcome.notices:
        note(f"note: {notice}")
    show_fit(outcome, json)
