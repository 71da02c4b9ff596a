"""`abnet compare`."""

from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import UsageError, guarded, said

__all__ = ["compare"]


@guarded
def compare(
    context: typer.Context,
    table: options.Table,
    target: options.Target,
    test_fraction: Annotated[float, typer.Option(metavar="SHARE", help="Share of the rows kept as a test set.")] = 0.2,
    drop: options.Drop = None,
    use: options.Use = None,
    decimal: options.Decimal = "auto",
    max_categories: options.MaxCategories = 20,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bars.")] = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    prior_fraction: options.PriorFraction = 0.5,
    delta: options.Delta = 0.05,
    learning_rate_init: options.LearningRateInit = "auto",
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = 0,
) -> None:
    """Compare the model of `abnet fit` with forest, boosting and logistic regression on the same rows.

    A share of the rows is kept as a test set. All models learn from a first part
    of the others, and all are certified by their errors on the second part
    (test-set bound, Clopper-Pearson), the majority rule too. "abnet fit" marks
    the model that `abnet fit` would make. With widths of your own, the network
    also learns through the PAC-Bayes bound, with a learned and with a random
    prior. Nothing is saved, and nothing is hidden where another model is better.

    abnet compare patients.csv --target diagnosis
    abnet compare patients.csv --target diagnosis --hidden-layer-sizes 8 --json
    """
    from abnet.bounds.wording import percent
    from abnet.cli.jobs.compare_models import compare_table
    from abnet.cli.show import show_contenders

    if not 0 < test_fraction < 1:
        raise UsageError(f"--test-fraction must lie strictly between 0 and 1, not {test_fraction}.")
    outcome = compare_table(
        table, target, settings=options.settings(context), drop=drop or [],
        preparation=options.preparation(max_categories, decimal, use), test_fraction=test_fraction, verbose=not quiet,
    )  # fmt: skip
    if json:
        show.as_json({**outcome.to_dict(), "notes": said()})
        return
    learned, tested = show.count(outcome.n_learn, "row"), show.count(outcome.n_test, "row")
    print(f"Learned and certified on {learned}, tested on {tested}; confidence {1 - outcome.delta:.6g}.")
    print(f"Base rate of the test rows: {percent(outcome.base_rate)}. Threads: {outcome.threads}.\n")
    show_contenders(outcome.contenders)
