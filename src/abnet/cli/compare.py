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
            help="Write the tightest certificate as JSON, and its model to a file beside it. All certificates then "
            "account for the choice among all models.",
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
    same held-out rows (Clopper-Pearson). CatBoost and LightGBM take part if they
    are installed (pip install "abnet[compare]").

    --save winner.json keeps the model with the lowest bound: its certificate, and
    beside it winner.abnet if it is a model of abnet. Another model is stored by its
    own library, in a format that runs no code when it is loaded (CatBoost .cbm,
    LightGBM .lightgbm.txt, scikit-learn .skops if skops is installed), with
    winner.features.abnet, which makes its features. The certificate names these
    files with their SHA-256. Give its answers to `abnet monitor winner.json`.

    abnet compare patients.csv --target diagnosis
    abnet compare patients.csv --target diagnosis --save winner.json
    abnet compare patients.csv --target diagnosis --json
    """
    from abnet.cli.outputs import check_output

    if save is not None:
        from abnet.estimators.winner_files import winner_paths

        check_output(save, "JSON", inputs=[table], option="--save")
        for beside in winner_paths(save).values():
            check_output(beside, "model", inputs=[table], overwrite=True, option="--save")
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
    written: tuple[Path, ...] = ()
    if save is not None and winner is not None:
        written = made.save(save)
    if json:
        saved = None
        if save is not None and winner is not None:
            saved = {"winner": winner.name, "certificate": str(save), "model": [str(path) for path in written]}
        console.as_json(
            {**made.to_dict(), "saved": saved, "notes": console.shown_notes(), "note_data": console.recorded_notes()}
        )
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
        if written:
            print(f"Model written to {' and '.join(map(str, written))}.")
        else:
            console.paragraph(
                "The model itself was not kept: scikit-learn has no file that is safe to load. Install "
                '"abnet[compare]" for one (skops). A model that is fitted again needs a certificate of its own.',
                end="\n",
            )
