"""Options that several commands share, each declared once.

`classifier`, `bins_of` and `widths` convert options to parameters. `spelled` converts parameters
to options, for messages; `command_line` writes the command that repeats a fit.

The signature of a command repeats the defaults of the library function that it calls, because importing that function
would load NumPy before help appears. `tests/cli/test_defaults.py` checks that they agree.
"""

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument

from abnet.cli.exit_codes import UsageError
from abnet.cli.goal_options import as_command_line, goal_option_names
from abnet.utils.errors import Parameter

if TYPE_CHECKING:
    from abnet.certificates.goals import Goal
    from abnet.certificates.joint_shares import JointNames
    from abnet.certificates.set_rule import Sets
    from abnet.estimators.certified import CertifiedClassifier
    from abnet.tables.preparation import TablePreparation

__all__ = ["PARAMETERS", "bins_of", "classifier", "command_line", "flag", "joint_of", "sets_of", "spelled", "widths"]


_MODEL = "Model"
_CERTIFICATE = "Certificate"
_TABLE = "Table"


def _option(text: str, *, metavar: str = "", panel: str | None = None, rare: bool = False, **more: Any) -> Any:
    """An option that has the name of its parameter; a rare one appears with ``--help-all`` only."""
    return typer.Option(metavar=metavar, rich_help_panel=panel, help=text, hidden=rare, **more)


def flag(name: str, text: str, *, rare: bool = False) -> Any:
    """An option without a value."""
    return typer.Option(*name.split(), metavar="", help=text, hidden=rare)


# What most commands share

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", readable=False, help="CSV, TSV (also gzipped) or Parquet file; - reads standard input."
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="Model file written by `abnet fit` or `clf.save`.")
]
Truth = Annotated[
    str | None, _option("Column with the labels; by default the one that the model predicts.", metavar="COLUMN")
]
Overwrite = Annotated[bool, flag("--overwrite", "Replace the output file even if it is of another kind.")]
AllowShift = Annotated[
    bool, flag("--allow-shift", "Accept a numeric column that is far outside its training range in most rows.")
]
Quiet = Annotated[bool, flag("--quiet -q", "Show no progress.")]
AsJSON = Annotated[bool, flag("--json", "Print one JSON object instead of text.")]
Details = Annotated[
    bool, flag("--details", "Also print the bound on the Gibbs risk and where it comes from.", rare=True)
]

# How a table is read

Target = Annotated[str, _option("Column to predict; two classes or more.", metavar="COLUMN")]
Drop = Annotated[list[str] | None, _option("Column to leave out, such as an id; repeatable.", metavar="COLUMN")]
Use = Annotated[list[str] | None, _option("Column to use even if it looks like an id; repeatable.", metavar="COLUMN")]
GroupColumn = Annotated[
    str | None,
    _option(
        "Column that says which rows belong together, such as a patient. The certificate is then about a new group.",
        metavar="COLUMN",
    ),
]
TimeColumn = Annotated[
    str | None,
    _option(
        "Column with the time of each row. Train on the past and certify on the latest rows, instead of a random part.",
        metavar="COLUMN",
    ),
]
Numeric = Annotated[
    list[str] | None,
    _option("Read this column as numbers; repeatable.", metavar="COLUMN"),
]
Categorical = Annotated[list[str] | None, _option("Read this column as categories; repeatable.", metavar="COLUMN")]
DateColumn = Annotated[
    list[str] | None,
    typer.Option("--date", metavar="COLUMN", help="Read this column as dates; repeatable."),
]
MissingLabel = Annotated[
    str,
    _option(
        "Rows without a label: leave them out and count them, or stop.", metavar="drop|error", panel=_TABLE, rare=True
    ),
]
Bins = Annotated[
    str | None,
    _option("Cut a numeric target into N classes, or at points such as 10,20.", metavar="N|CUTS", rare=True),
]
Notes = Annotated[
    str, _option("'all' lists every note on the table separately.", metavar="main|all", panel=_TABLE, rare=True)
]
Decimal = Annotated[str, _option("Decimal mark of the numbers.", metavar="auto|comma|point", panel=_TABLE, rare=True)]
MaxCategories = Annotated[
    int,
    _option(
        "Maximum features per text column; rare categories share one.", metavar="N", panel=_TABLE, rare=True, min=2
    ),
]
MaxLearnRows = Annotated[
    int,
    _option(
        "Train on at most this many rows. A larger table is streamed; all other rows are counted for the certificate.",
        metavar="N",
        panel=_TABLE,
        rare=True,
        min=1,
    ),
]

# The classifier

HiddenLayerSizes = Annotated[
    str,
    _option(
        "Widths of the hidden layers, e.g. 8,8, for one network; 'auto' makes a mixture by fixed rules.",
        metavar="WIDTHS",
        panel=_MODEL,
        rare=True,
    ),
]
NEstimators = Annotated[
    str,
    _option("Number of networks in the mixture; 'auto' follows fixed rules.", metavar="N", panel=_MODEL, rare=True),
]
Teacher = Annotated[
    str,
    _option(
        "What the networks are distilled from: 'forest', 'boosting', 'linear', 'kernel', 'all' of them weighted, or "
        "'none'.",
        metavar="NAME",
        panel=_MODEL,
        rare=True,
    ),
]
Codes = Annotated[
    str,
    _option(
        "Add thermometer codes of numeric columns ('thermometer') or not ('none').",
        metavar="NAME",
        panel=_MODEL,
        rare=True,
    ),
]
ClassWeight = Annotated[
    str | None,
    _option("'balanced' gives every class the same weight in training.", metavar="NAME", panel=_MODEL),
]
MaxIter = Annotated[int, _option("Maximum epochs of a training stage.", metavar="N", panel=_MODEL, rare=True)]
RandomState = Annotated[
    int | None,
    _option(
        "Seed. The same rows, in any order, and the same seed give the same model.",
        metavar="N",
        panel=_MODEL,
        min=0,
        show_default="a new one each time",
    ),
]

# What is certified

LearnFraction = Annotated[
    str,
    _option(
        "Share of the rows to train on; the rest is held out. 'auto' is 0.6, or 0.5 if widths are given.",
        metavar="SHARE",
        panel=_CERTIFICATE,
    ),
]
Delta = Annotated[
    float, _option("Maximum probability that a certificate is false.", metavar="NUMBER", panel=_CERTIFICATE)
]
PredictionSets = Annotated[
    float | None,
    _option(
        "Certify prediction sets: at most this share of new rows has a set without its true class.",
        metavar="ALPHA",
        panel=_CERTIFICATE,
    ),
]
SetsByClass = Annotated[
    bool,
    typer.Option(
        "--sets-by-class",
        metavar="",
        rich_help_panel=_CERTIFICATE,
        help="Certify prediction sets for every class, jointly.",
        hidden=True,
    ),
]
Joint = Annotated[
    list[str] | None,
    _option(
        "Statement that is to hold jointly with the others so named, such as 'error rate' or classes; repeatable. They "
        "share delta equally, or as in 'error rate=0.8'.",
        metavar="NAME",
        panel=_CERTIFICATE,
        rare=True,
    ),
]
NCandidates = Annotated[
    int,
    _option("Number of models among which you will choose by these certificates.", metavar="N", panel=_CERTIFICATE),
]
# From options to parameters

PARAMETERS = (
    "hidden_layer_sizes",
    "n_estimators",
    "teacher",
    "codes",
    "class_weight",
    "learn_fraction",
    "delta",
    "n_candidates",
    "max_iter",
    "random_state",
)
"""Options of `abnet fit` that are parameters of the classifier."""

COLUMNS = ("use", "numeric", "categorical", "dates")
"""Options that name columns, and are parameters of the preparation of tables."""


def sets_of(values: Mapping[str, Any]) -> "Sets | None":
    """The prediction sets that the options of a command ask for."""
    if values["sets"] is None:
        if values["sets_by_class"]:
            raise UsageError("--sets-by-class goes with --sets: add the largest share of misses, such as --sets 0.1.")
        return None
    from abnet.certificates.set_rule import Sets
    from abnet.utils.parameters import check_fraction

    check_fraction("sets", values["sets"])
    return Sets(values["sets"], by_class=values["sets_by_class"])


def joint_of(values: Mapping[str, Any]) -> "JointNames | None":
    """The statements that hold jointly: names, or shares of δ by name.

    Examples
    --------
    >>> joint_of({"joint": ["error rate", "classes"]}), joint_of({"joint": ["error rate=0.8", "classes=0.2"]})
    (['error rate', 'classes'], {'error rate': 0.8, 'classes': 0.2})
    """
    texts = list(values["joint"] or ())
    if not texts:
        return None
    shares = {}
    for text in texts:
        name, _, share = text.rpartition("=")
        if name and _is_number(share):
            shares[name] = float(share)
    if not shares:
        return texts
    if len(shares) < len(texts):
        raise UsageError("--joint: give a share of δ for every statement, as in 'error rate=0.8', or for none.")
    return shares


def _is_number(text: str) -> bool:
    """Whether a text is a number; a statement may be about a label with an equals sign."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def classifier(values: Mapping[str, Any], *, goal: "Goal | None" = None) -> "CertifiedClassifier":
    """An unfitted classifier from the options of a command.

    The functions that fit it check its parameters before they read anything.

    Parameters
    ----------
    values : mapping
        The options of the command by parameter name. Commands have only some of the options of `abnet fit`; parameters
        without an option keep their defaults.
    goal : Goal, optional
    """
    from abnet.certificates.random_seed import drawn_seed
    from abnet.estimators.certified import CertifiedClassifier

    parameters = {name: values[name] for name in PARAMETERS if name in values}
    parameters["hidden_layer_sizes"] = widths(parameters["hidden_layer_sizes"])
    if parameters.get("n_estimators", "auto") != "auto":
        rule = "--n-estimators takes a number of networks or 'auto'"
        parameters["n_estimators"] = _whole(rule, parameters["n_estimators"])
    if parameters.get("teacher", "").lower() == "none":
        parameters["teacher"] = None
    if parameters.get("learn_fraction", "auto") != "auto":
        parameters["learn_fraction"] = _number("--learn-fraction", parameters["learn_fraction"])
    if "use" in values:
        parameters["preprocessor"] = _preparation(values)
    # The seed is drawn here, because the model file records the command line with its seed.
    parameters["random_state"] = drawn_seed(parameters["random_state"])
    if "sets" in values:
        parameters["sets"] = sets_of(values)
        parameters["joint"] = joint_of(values)
    return CertifiedClassifier(decision=goal, **parameters)


def _preparation(values: Mapping[str, Any]) -> "TablePreparation":
    """The preparation of tables from the options of a command."""
    from abnet.tables.preparation import TablePreparation

    if values["decimal"] not in ("auto", "comma", "point"):
        raise UsageError(f"--decimal must be 'auto', 'comma' or 'point', not {values['decimal']!r}.")
    columns = {name: tuple(values[name] or ()) for name in COLUMNS if name in values}
    return TablePreparation(max_categories=values["max_categories"], decimal=values["decimal"], **columns)


def bins_of(text: str | None) -> int | tuple[float, ...] | None:
    """A number of classes, or cut points.

    Examples
    --------
    >>> bins_of("4"), bins_of("10,20.5"), bins_of("7,"), bins_of(None)
    (4, (10.0, 20.5), (7.0,), None)
    """
    if text is None:
        return None
    try:
        if "," not in text:
            return int(text)
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise UsageError(f"--bins takes a number of classes, or cut points such as 10,20; got {text!r}.") from error


def widths(text: str) -> tuple[int, ...] | str:
    """Widths from a text, or "auto".

    Examples
    --------
    >>> widths("8, 8"), widths("4")
    ((8, 8), (4,))
    """
    if text.strip() == "auto":
        return "auto"
    rule = "--hidden-layer-sizes takes widths separated by commas"
    return tuple(_whole(rule, part) for part in text.split(","))


def _whole(rule: str, text: str) -> int:
    """A whole number of 1 or more; `rule` begins the error message."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise UsageError(f"{rule}: whole numbers of 1 or more, not {text!r}.")
    return int(digits)


def _number(option: str, text: str) -> float:
    """A number from the text after an option."""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option} takes a number or 'auto', not {text!r}.") from None


_OUTPUT_OPTIONS = ("output", "overwrite", "quiet", "details", "json")
"""Options about where and how results are shown; they change nothing about the model."""


def command_line(context: typer.Context, seed: int) -> str:
    """The command line that repeats the running command, with the seed used and without options that only affect
    output."""
    words = ["abnet", str(context.command.name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in _OUTPUT_OPTIONS:
            continue
        if name == "random_state":
            words += _words_of(parameter, seed)
        elif getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE":
            words += _words_of(parameter, context.params[name])
    return shlex.join(words)


def _words_of(parameter: Any, value: Any) -> list[str]:
    """A parameter with its value as words of a command line; an argument is represented by its placeholder."""
    if isinstance(parameter, TyperArgument):
        return [str(parameter.metavar)]
    option = parameter.opts[0]
    if parameter.is_flag and value is True:
        return [option]
    if not isinstance(value, list | tuple):
        return [option, str(value)]
    words = []
    for item in value:
        words += [option, str(item)]
    return words


_COMMAND_WITH_OPTION = {
    **dict.fromkeys((*PARAMETERS, *goal_option_names(), "max_categories", "decimal", *COLUMNS), "abnet fit"),
    **dict.fromkeys(("missing_label", "bins", "max_learn_rows"), "abnet fit"),
    **dict.fromkeys(("unseen", "on_error", "allow_shift"), "abnet predict"),
    **dict.fromkeys(("sets", "joint"), "abnet certify"),
    "allow_training_rows": "abnet certify",
    "allow_repeat": "abnet monitor",
    "data_dir": "abnet data",
    "download": "abnet data",
}
"""The command to name in a message about a parameter for which the running command has no option."""


def _spelled(name: str) -> str:
    """The option of a parameter."""
    if name == "dates":
        return "--date"
    return "--" + name.replace("_", "-")


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
        if parameter.value is None:
            return "a target, or --costs,"
        return as_command_line(parameter.value)
    if parameter.name not in own and parameter.name not in _COMMAND_WITH_OPTION:
        return str(parameter)
    option = _spelled(parameter.name)
    if parameter.value is not None and parameter.value is not True:
        option += f" {parameter.value}"
    if parameter.name in own:
        return option
    return f"{_COMMAND_WITH_OPTION[parameter.name]} {option}"
