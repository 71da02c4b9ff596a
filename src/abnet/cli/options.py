"""Options that carry the estimators' parameter names: what help says of them, their values, and the way back.

Parameters become options (`spelled`), and options parameters (`settings`).
"""

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from abnet import __version__
from abnet.cli.console import UsageError
from abnet.errors import Parameter

__all__ = ["Command", "Group", "PARAMETERS", "command_line", "preparation", "program", "settings", "spelled", "widths"]

_NETWORK, _CERTIFICATE, _TRAINING = "Network", "Certificate", "Training"

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        readable=False,
        help="CSV or TSV (also .gz) or Parquet file, with a header; - reads standard input.",
    ),
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="Column to predict: two classes or more.")]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out, such as an id; may be repeated.")
]
Use = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to use though it has no name or looks like an id; may be repeated."),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Read this column as numbers; other cells count as missing; may be repeated."),
]
Categorical = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Read this column as categories; may be repeated.")
]
DateColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--date", metavar="COLUMN", help="Read this column as dates; other cells count as missing; may be repeated."
    ),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows that belong together, such as those of one patient: whole groups learn or certify, and the "
        "certificate is about a new group. The column is no feature.",
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        metavar="auto|comma|point", help="The decimal mark of the numbers; 'auto' infers it from them where they tell."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", metavar="", help="Also replace a file of another kind (never an input).")
]
MaxLearnRows = Annotated[
    int,
    typer.Option(
        min=1, metavar="NUMBER",
        help="A table with more rows is streamed: at most this many learn, and all others are only counted.",
    ),
]  # fmt: skip
MaxCategories = Annotated[
    int,
    typer.Option(min=2, metavar="NUMBER", help="Maximum features per text column; rare categories share one."),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="Model file written by `abnet fit` or `clf.save`.")
]
Details = Annotated[
    bool, typer.Option("--details", metavar="", help="Also print the bound on the Gibbs risk and how it was reached.")
]
AsJSON = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object instead of text.")]

HiddenLayerSizes = Annotated[
    str,
    typer.Option(
        metavar="WIDTHS",
        rich_help_panel=_NETWORK,
        help="Widths of the hidden layers, e.g. 8,8, for one network; 'auto' makes a mixture by fixed rules.",
    ),
]
NEstimators = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        rich_help_panel=_NETWORK,
        help="Networks in the mixture; 'auto' is 8 (4 for several classes and wide tables), or 1 where widths are "
        "given.",
    ),
]
Teacher = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_NETWORK,
        help="Who teaches the networks on the first part: 'forest', 'boosting', 'linear', 'kernel', 'all' of them, "
        "weighed (the kernel for several classes only), or 'none'; 'auto' is 'all', or 'none' where widths are given "
        "or the table is wide.",
    ),
]
Codes = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_NETWORK,
        help="'thermometer': answers to \"is it above?\" beside the columns; 'none'; 'auto' chooses.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", rich_help_panel=_TRAINING, help="'balanced': every class counts the same in learning."
    ),
]
TargetError = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        rich_help_panel=_CERTIFICATE,
        help="Answer only where sure enough: certify this error among the answered rows (`abnet predict --abstain`).",
    ),
]
TargetRecall = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        rich_help_panel=_CERTIFICATE,
        help="Find and certify a threshold that calls this share of --positive-class (`abnet predict --decide`).",
    ),
]
TargetPrecision = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        rich_help_panel=_CERTIFICATE,
        help="The same for the share of --positive-class among the rows that are called so.",
    ),
]
PositiveClass = Annotated[
    str | None,
    typer.Option(metavar="LABEL", rich_help_panel=_CERTIFICATE, help="The class that such a target is about."),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRUTH:ANSWER=COST",
        rich_help_panel=_CERTIFICATE,
        help="What a wrong answer costs, once for each pair of labels: certify the expected cost of a row.",
    ),
]
LearnFraction = Annotated[
    str,
    typer.Option(
        metavar="SHARE",
        rich_help_panel=_CERTIFICATE,
        help="Share of the rows that learn; the others are held out. 'auto' is 0.6, or 0.5 where widths are given.",
    ),
]
Delta = Annotated[
    float,
    typer.Option(metavar="NUMBER", rich_help_panel=_CERTIFICATE, help="Maximum probability that a certificate fails."),
]
NCandidates = Annotated[
    int,
    typer.Option(
        metavar="NUMBER",
        rich_help_panel=_CERTIFICATE,
        help="Number of models among which you will choose by their certificates; fix it beforehand.",
    ),
]
MaxIter = Annotated[
    int,
    typer.Option(
        metavar="NUMBER",
        rich_help_panel=_TRAINING,
        help="Maximum epochs of a training stage.",
    ),
]
_SEED = "Seed: the same rows, in any order, and the same seed give the same model. \\[default: drawn anew]"
RandomState = Annotated[int | None, typer.Option(min=0, metavar="NUMBER", rich_help_panel=_TRAINING, help=_SEED)]
PARAMETERS = (
    "hidden_layer_sizes", "n_estimators", "teacher", "codes", "class_weight", "target_error", "target_recall",
    "target_precision", "positive_class", "costs", "learn_fraction", "delta", "n_candidates", "max_iter",
    "random_state",
)  # fmt: skip
"""Options of `abnet fit` that make the classifier: its parameters, and those of the goals of `decision`."""


def settings(context: typer.Context) -> dict[str, Any]:
    """The estimator's parameters among the options of a command."""
    from abnet.certificates.split import drawn_seed

    given = {name: context.params[name] for name in PARAMETERS if name in context.params}
    given["hidden_layer_sizes"] = widths(given["hidden_layer_sizes"])
    if given.get("n_estimators", "auto") != "auto":
        given["n_estimators"] = _whole("--n-estimators takes a number of networks or 'auto'", given["n_estimators"])
    if "target_error" in given:
        given["decision"] = _goal({name: given.pop(name) for name in _GOALS}, given.pop("positive_class"))
    if given.get("teacher") == "none":
        given["teacher"] = None
    if given.get("learn_fraction", "auto") != "auto":
        given["learn_fraction"] = _number("--learn-fraction", given["learn_fraction"])
    given["random_state"] = context.params["random_state"] = drawn_seed(given["random_state"])
    return given


_GOALS = ("target_error", "target_recall", "target_precision", "costs")
"""Options that ask for a threshold; they exclude each other."""


def _goal(given: dict[str, Any], positive: str | None) -> Any:
    """What the answers have to achieve, None if nothing is asked for."""
    from abnet.certificates import goals

    asked = [name for name in _GOALS if given[name] is not None and given[name] not in ([], ())]
    if not asked:
        return None
    if len(asked) > 1:
        first, second = ("--" + name.replace("_", "-") for name in asked[:2])
        raise UsageError(f"{first} and {second} ask for a threshold each: give one.")
    name = asked[0]
    if name == "costs":
        return goals.Costs(costs_of(given[name]) or {})
    check_levels(**{name: given[name]})
    if name == "target_error":
        return goals.TargetError(given[name])
    if positive is None:
        raise UsageError(f"--{name.replace('_', '-')} needs --positive-class: name the class.")
    kind = goals.TargetRecall if name == "target_recall" else goals.TargetPrecision
    return kind(given[name], positive=positive)


_ELSEWHERE = ("output", "overwrite", "quiet", "details", "json")
"""Options that say where results go, and change nothing about the model."""


def command_line(context: typer.Context) -> str:
    """The command that repeats the one at work, as far as it shapes the model, with a seed that was drawn."""
    parts = ["abnet", str(context.command.name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        typed = getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        if name in _ELSEWHERE or not (typed or name == "random_state"):
            continue
        value = context.params[name]
        if value is True and getattr(parameter, "is_flag", False):
            parts.append(parameter.opts[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            parts += [str(parameter.metavar)] if isinstance(parameter, TyperArgument) else [parameter.opts[0], str(one)]
    return shlex.join(parts)


def preparation(max_categories: int, decimal: str, **columns: list[str] | None) -> dict[str, Any]:
    """The parameters of `abnet.preparation.TablePreparation` among the options of a command."""
    if decimal not in ("auto", "comma", "point"):
        raise UsageError(f"--decimal must be 'auto', 'comma' or 'point', not {decimal!r}.")
    named = {name: tuple(given or ()) for name, given in columns.items()}
    return {"max_categories": max_categories, "decimal": decimal, **named}


def widths(text: str) -> tuple[int, ...] | str:
    """Widths from a text, or "auto".

    Examples
    --------
    >>> widths("8, 8"), widths("4")
    ((8, 8), (4,))
    """
    if text.strip() == "auto":
        return "auto"
    return tuple(_whole("--hidden-layer-sizes takes widths separated by commas", part) for part in text.split(","))


def costs_of(texts: list[str]) -> dict[tuple[str, str], float] | None:
    """Costs by truth and answer from ``TRUTH:ANSWER=COST``; None of none.

    Examples
    --------
    >>> costs_of(["ill:well=10", "well:ill=1"])
    {('ill', 'well'): 10.0, ('well', 'ill'): 1.0}
    """
    costs = {}
    for text in texts:
        pair, _, number = text.rpartition("=")
        truth, mark, answer = pair.partition(":")
        if not mark:
            raise UsageError(f"--costs takes TRUTH:ANSWER=COST, such as ill:well=10, not {text!r}.")
        named = truth.strip(), answer.strip()
        if named in costs:
            raise UsageError(f"--costs: {named[0]}:{named[1]} is given twice.")
        costs[named] = _number("--costs", number)
    return costs or None


def check_levels(**levels: float | None) -> None:
    """Refuse options that must lie strictly between 0 and 1, by their names; None is not given.

    Examples
    --------
    >>> check_levels(delta=0.05, target_error=None)
    """
    for name, value in levels.items():
        if value is not None and not 0 < value < 1:
            raise UsageError(f"--{name.replace('_', '-')} must lie strictly between 0 and 1, not {value:g}.")


def check_counted(n_candidates: int) -> None:
    """Refuse a number of candidates below 1."""
    if n_candidates < 1:
        raise UsageError(f"--n-candidates must be a whole number of 1 or more, not {n_candidates}.")


def _whole(rule: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise UsageError(f"{rule}: whole numbers of 1 or more, not {text!r}.")
    return int(digits)


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option} takes a number or 'auto', not {text!r}.") from None


_HOMES = {
    **dict.fromkeys((*PARAMETERS, "max_categories", "decimal", "use", "max_learn_rows"), "abnet fit"),
    **{"unseen": "abnet predict", "allow_training_rows": "abnet certify", "allow_repeat": "abnet monitor"},
    **dict.fromkeys(("data_dir", "download"), "abnet data"),
}
"""Parameters that are options of some command, and the command to name where the one at work lacks them."""


def spelled(parameter: Parameter, own: Collection[str]) -> str:
    """A parameter as an option.

    Parameters
    ----------
    parameter : Parameter
    own : collection of str
        Parameters that the command has options for; other options are given with their command.

    Examples
    --------
    >>> spelled(Parameter("codes", "none"), {"codes"}), spelled(Parameter("learn_fraction"), {"learn_fraction"})
    ('--codes none', '--learn-fraction')
    >>> spelled(Parameter("download", True), {"delta"}), spelled(Parameter("verbose"), {"delta"})
    ('abnet data --download', 'verbose')
    """
    if parameter.name == "decision":
        return "a target, or --costs,"
    if parameter.name not in _HOMES:
        return str(parameter)
    option = "--" + parameter.name.replace("_", "-")
    if parameter.value is not None and parameter.value is not True:
        option += f" {parameter.value}"
    return option if parameter.name in own else f"{_HOMES[parameter.name]} {option}"


class Command(TyperCommand):
    """A command with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, shown plainly."""
        return [_plain(parameter) for parameter in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line, with what is required as it is, and what is not in brackets."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Group(TyperGroup):
    """A group of commands with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options, shown plainly."""
        return [_plain(parameter) for parameter in super().get_params(ctx)]


def _plain(parameter: Any) -> Any:
    """``--help`` takes no value, and the name of an argument says what it is: neither needs a type beside it."""
    if isinstance(parameter, TyperArgument):
        parameter.display_type_rich = _nothing  # type: ignore[method-assign]
    elif "--help" in parameter.opts:
        parameter.metavar = ""
    return parameter


def _nothing(ctx: Any) -> str:
    return ""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"abnet {__version__}")
        raise typer.Exit


def program(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn a classifier from a table, with a certificate on its error on new data.

    abnet demo                                 all of it, on built-in data
    abnet fit patients.csv --target diagnosis  learn, certify, write model.abnet
    abnet predict model.abnet new.csv          label new rows
    """
