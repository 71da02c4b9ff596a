"""`abnet demo`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import guarded

__all__ = ["demo"]


@guarded
def demo(
    output_dir: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the model and the picture; created if missing.")
    ] = Path("demo"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    delta: options.Delta = 0.05,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = 0,
) -> None:
    """Do the whole job on built-in data, handwritten digits 0-4 against 5-9, in less than a minute.

    Learns from three quarters of the images with nothing set, certifies, compares
    with forest, boosting and logistic regression on the same rows, tests on the
    last quarter, and writes the model and a picture.

    abnet demo
    abnet demo --output-dir /tmp/digits --hidden-layer-sizes 4 --random-state 1
    """
    from abnet.cli.jobs.run_demo import run_demo
    from abnet.cli.show import show_contenders

    widths = options.widths(hidden_layer_sizes)
    settings = {"hidden_layer_sizes": widths, "delta": delta, "max_iter": max_iter, "random_state": random_state}
    outcome = run_demo(output_dir, settings, verbose=not quiet)
    if json:
        show.as_json(outcome.to_dict())
        return
    print(f"{outcome.n_learn:,} digits to learn from, {outcome.n_test:,} to test on: 0-4 or 5-9?\n")
    print(show.certificate_text(outcome.certificate, details=False), end="\n\n")
    show_contenders(outcome.contenders)
    print(f"Model:    {outcome.model}\nPicture:  {outcome.picture}\nNext:     abnet inspect {outcome.model}")
