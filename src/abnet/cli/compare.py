"""`abnet compare`: the model of `abnet fit` beside the usual ones."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["compare"]


@guarded
def compare(
    context: typer.Context,
    table: options.Table,
    target: options.Target,
    test_fraction: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows to keep as a test set.")
    ] = 0.2,
    drop: options.Drop = None,
    use: options.Use = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    dates: options.DateColumn = None,
    missing_label: options.MissingLabel = "drop",
    bins: options.Bins = None,
    notes: options.Notes = "main",
    group: options.GroupColumn = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the tightest certificate as JSON. All certificates then account for the choice among all "
            "models.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
    decimal: options.Decimal = "auto",
    max_categories: options.MaxCategories = 200,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    learn_fraction: options.LearnFraction = "auto",
    delta: options.Delta = 0.05,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = None,
) -> None:
    """Compare the model of `abnet fit` with forest, boosting and logistic regression.

    Part of the rows is kept as a test set. All models, and the majority class as a
    baseline, are trained on the same rows and certified by their errors on the
    same held-out rows (Clopper-Pearson). No model is saved; --save keeps the
    certificate of the best one, as a record: it is not about a model fitted later.

    abnet compare patients.csv --target diagnosis
    abnet compare patients.csv --target diagnosis --save winner.json
    abnet compare patients.csv --target diagnosis --json
    """
    from abnet.cli.outputs import check_output

    if save is not None:
        check_output(save, "JSON", inputs=[table], option="--save")
    with stage_bars("Starting", hidden=quiet):
        from abnet.estimators.compare import compare as contest

        made = contest(
            table,
            target,
            estimator=options.classifier(context.params),
            drop=drop or [],
            group=group,
            test_fraction=test_fraction,
            choose=save is not None,
            missing_label=missing_label,
            bins=options.bins_of(bins),
        )
    console.show_notes(made.notes, every=notes == "all")
    winner = made.winner
    if save is not None and winner is not None and winner.certificate is not None:
        winner.certificate.save(save)
    if json:
        console.as_json({**made.to_dict(), "notes": console.shown_notes(), "note_data": console.recorded_notes()})
        return
    from abnet.cli.contenders import show_contenders
    from abnet.utils.wording import confidence, number_of, percent

    trained = number_of(made.n_learn, "row")
    tested = number_of(made.n_test, "row")
    print(f"Trained and certified on {trained}, tested on {tested}; confidence {confidence(made.delta)}.")
    print(f"Majority-class error on the test rows: {percent(made.base_rate)}. Threads: {made.threads}.\n")
    show_contenders(made.contenders, choice_covered=made.n_candidates > 1)
    if save is not None and winner is not None:
        print(f"\nCertificate of {winner.name} (chosen among {made.n_candidates}) written to {save}.")
        console.paragraph(
            "It is about the model that was fitted here, which is not kept; a model that is fitted again needs a "
            "certificate of its own.",
            end="\n",
        )
