"""Options that carry the estimators' parameter names, and their values as the estimators take them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli.guard import WrongUseError

__all__ = ["PARAMETERS", "settings", "widths"]

_NETWORK, _CERTIFICATE, _TRAINING = "Network", "Certificate", "Training"

Table = Annotated[
    Path, typer.Argument(metavar="TABLE", readable=False, help="CSV or TSV (also .gz) or Parquet file, with a header.")
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="Column to predict; it must hold exactly two values.")]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out, such as an id; may be repeated.")
]
MaxCategories = Annotated[
    int, typer.Option(min=2, metavar="NUMBER", help="Most features made of one text column; rare categories share one.")
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="Model file written by `abnet fit` or `clf.save`.")
]
AsJSON = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object instead of text.")]

HiddenLayerSizes = Annotated[
    str, typer.Option(metavar="WIDTHS", rich_help_panel=_NETWORK, help="Widths of the hidden layers, as 8,8.")
]
Aggregation = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_NETWORK,
        help="How the output is computed: 'exact' (layers of up to 20 units), or by sampling: 'ancestral' "
        "(certified), 'uniform' (an estimate); 'auto' chooses.",
    ),
]
NSamples = Annotated[
    int, typer.Option(metavar="NUMBER", rich_help_panel=_NETWORK, help="Draws of the sampled aggregations.")
]
Objective = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_CERTIFICATE,
        help="'bound', or 'loss': the linear loss, whose certificate seldom says much.",
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_CERTIFICATE,
        help="'split': learn the prior on a first part of the rows; 'init': the random start; 'auto' chooses.",
    ),
]
Posterior = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_CERTIFICATE,
        help="'train': the second part trains on through the bound; 'frozen': it only certifies; "
        "'auto': frozen where the prior is learned.",
    ),
]
PriorFraction = Annotated[
    float, typer.Option(metavar="SHARE", rich_help_panel=_CERTIFICATE, help="Share of the rows in the first part.")
]
Delta = Annotated[
    float,
    typer.Option(metavar="NUMBER", rich_help_panel=_CERTIFICATE, help="Probability with which a certificate may fail."),
]
NCandidates = Annotated[
    int,
    typer.Option(
        metavar="NUMBER",
        rich_help_panel=_CERTIFICATE,
        help="Number of models among which you will choose by looking at their certificates; decide beforehand.",
    ),
]
BatchSize = Annotated[str, typer.Option(metavar="ROWS", rich_help_panel=_TRAINING, help="Rows per step, or 'auto'.")]
LearningRateInit = Annotated[
    float, typer.Option(metavar="NUMBER", rich_help_panel=_TRAINING, help="Learning rate of the last stage.")
]
MaxIter = Annotated[int, typer.Option(metavar="NUMBER", rich_help_panel=_TRAINING, help="Most epochs of a stage.")]
NIterNoChange = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", rich_help_panel=_TRAINING, help="Epochs without improvement after which a stage ends."
    ),
]
Tol = Annotated[
    float, typer.Option(metavar="NUMBER", rich_help_panel=_TRAINING, help="Smallest improvement that counts.")
]
ValidationFraction = Annotated[
    float,
    typer.Option(
        metavar="SHARE", rich_help_panel=_TRAINING, help="Share of the learning rows kept for early stopping."
    ),
]
RandomState = Annotated[
    int,
    typer.Option(min=0, metavar="NUMBER", rich_help_panel=_TRAINING, help="Seed: the same seed gives the same model."),
]

PARAMETERS = (
    "hidden_layer_sizes", "objective", "prior", "posterior", "prior_fraction", "aggregation", "n_samples", "delta",
    "n_candidates", "batch_size", "learning_rate_init", "max_iter", "n_iter_no_change", "tol", "validation_fraction",
    "random_state",
)  # fmt: skip
"""Parameters of the certified classifiers that are options of `abnet fit`."""


def settings(context: typer.Context) -> dict[str, Any]:
    """The estimator's parameters among the options of a command."""
    given = {name: context.params[name] for name in PARAMETERS if name in context.params}
    given["hidden_layer_sizes"] = widths(given["hidden_layer_sizes"])
    if given.get("batch_size", "auto") != "auto":
        given["batch_size"] = _whole("--batch-size takes a number of rows or 'auto'", given["batch_size"])
    return given


def widths(text: str) -> tuple[int, ...]:
    """Widths from a text.

    Examples
    --------
    >>> widths("8, 8"), widths("4")
    ((8, 8), (4,))
    """
    return tuple(_whole("--hidden-layer-sizes takes widths separated by commas", part) for part in text.split(","))


def _whole(rule: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise WrongUseError(f"{rule}: whole numbers of 1 or more, not {text!r}.")
    return int(digits)
