"""`abnet demo`: the whole workflow on built-in data."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded
from abnet.utils.progress import stage_bars

__all__ = ["demo"]


@guarded
def demo(
    context: typer.Context,
    output_dir: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for model, picture and report; created if missing.")
    ] = Path("demo"),
    quiet: options.Quiet = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    delta: options.Delta = 0.05,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = None,
) -> None:
    """Run the whole workflow on built-in data: handwritten digits, 0-4 against 5-9.

    Trains and certifies a model on three quarters of the images, compares it with
    a random forest, boosting and logistic regression, tests all of them on the
    last quarter, and writes the model, a picture and a report.

    abnet demo
    abnet demo --output-dir /tmp/digits --random-state 1
    """
    from abnet.cli.contenders import show_contenders
    from abnet.paper.demo import demo as show

    with stage_bars("Starting", hidden=quiet):
        made = show(output_dir, estimator=options.classifier(context.params))
    if json:
        console.as_json(made.to_dict())
        return
    print(f"{made.n_learn:,} digits to train and certify on, {made.n_test:,} to test on: 0-4 or 5-9?\n")
    if made.certificate is not None:
        print(made.certificate.describe(), end="\n\n")
    show_contenders(made.contenders, saved_by="`abnet compare --save`")
    print(f"\nModel:    {made.model}\nPicture:  {made.picture}\nReport:   {made.report}")
    print("Next:     open the report in a browser, or try your own table: abnet fit TABLE --target COLUMN")
