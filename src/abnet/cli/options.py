"""Options of the commands, each declared once; defaults are those of the functions that take them.

`spelled` converts parameters to options; `classifier` and `goal_of` convert options to parameters.
"""

import ast
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument

from abnet.cli.console import UsageError
from abnet.utils.errors import Parameter

if TYPE_CHECKING:
    from abnet.certificates import goals
    from abnet.certificates.goals import Goal

__all__ = ["PARAMETERS", "classifier", "command_line", "costs_of", "defaults", "goal_of", "spelled", "widths"]


def defaults(function: str) -> dict[str, Any]:
    """Defaults of a function's parameters, read from its source: importing it would load NumPy before help appears.

    Parameters
    ----------
    function : str
        Module and name below `abnet`, such as ``certificates.certify_table:certify_table``; of a dataclass, its fields.

    Examples
    --------
    >>> defaults("certificates.certify_table:certify_table")["delta"]
    0.05
    """
    module, _, name = function.partition(":")
    source = Path(__file__).parents[1] / f"{module.replace('.', '/')}.py"
    node: Any = ast.parse(source.read_bytes())
    for part in name.split("."):
        node = next(child for child in node.body if getattr(child, "name", None) == part)
    if isinstance(node, ast.ClassDef):
        fields = [child for child in node.body if isinstance(child, ast.AnnAssign)]
        return {ast.unparse(field.target): ast.literal_eval(field.value) for field in fields if field.value}
    given, kept = node.args, {}
    places = given.args[len(given.args) - len(given.defaults) :]
    for argument, default in [
        *zip(places, given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]:
        if isinstance(default, ast.expr):
            kept[argument.arg] = ast.literal_eval(default)
    return kept


_MODEL, _CERTIFICATE, _TABLE = "Model", "Certificate", "Table"


def _option(text: str, *, metavar: str = "", panel: str | None = None, rare: bool = False, **more: Any) -> Any:
    """An option that has the name of its parameter."""
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
Overwrite = Annotated[
    bool, flag("--overwrite", "Replace the output file even if it is of another kind (never an input).")
]
AllowShift = Annotated[
    bool, flag("--allow-shift", "Accept a numeric column that is far outside its training range in most rows.")
]
Quiet = Annotated[bool, flag("--quiet -q", "Show no progress.")]
AsJSON = Annotated[bool, flag("--json", "Print one JSON object instead of text.")]
Details = Annotated[bool, flag("--details", "Also print the bound on the Gibbs risk and where it comes from.")]

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
    _option(
        "Cut a numeric target into N classes, or at points such as 10,20.", metavar="N|CUTS"
    ),
]  # fmt: skip
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
        metavar="N", panel=_TABLE, rare=True, min=1,
    ),
]  # fmt: skip

# The classifier

HiddenLayerSizes = Annotated[
    str,
    _option(
        "Widths of the hidden layers, e.g. 8,8, for one network; 'auto' makes a mixture by fixed rules.",
        metavar="WIDTHS", panel=_MODEL, rare=True,
    ),
]  # fmt: skip
NEstimators = Annotated[
    str,
    _option("Number of networks in the mixture; 'auto' follows fixed rules.", metavar="N", panel=_MODEL, rare=True),
]
Teacher = Annotated[
    str,
    _option(
        "What the networks are distilled from: 'forest', 'boosting', 'linear', 'kernel', 'all' of them weighted, or "
        "'none'.",
        metavar="NAME", panel=_MODEL, rare=True,
    ),
]  # fmt: skip
Codes = Annotated[
    str,
    _option(
        "Add thermometer codes of numeric columns ('thermometer') or not ('none').",
        metavar="NAME", panel=_MODEL, rare=True,
    ),
]  # fmt: skip
ClassWeight = Annotated[
    str | None,
    _option("'balanced' gives every class the same weight in training.", metavar="NAME", panel=_MODEL),
]
MaxIter = Annotated[int, _option("Maximum epochs of a training stage.", metavar="N", panel=_MODEL, rare=True)]
RandomState = Annotated[
    int | None,
    _option(
        "Seed. The same rows, in any order, and the same seed give the same model.",
        metavar="N", panel=_MODEL, min=0, show_default="a new one each time",
    ),
]  # fmt: skip

# What is certified

LearnFraction = Annotated[
    str,
    _option(
        "Share of the rows to train on; the rest is held out. 'auto' is 0.6, or 0.5 if widths are given.",
        metavar="SHARE", panel=_CERTIFICATE,
    ),
]  # fmt: skip
Delta = Annotated[
    float, _option("Maximum probability that a certificate is false.", metavar="NUMBER", panel=_CERTIFICATE)
]
NCandidates = Annotated[
    int,
    _option("Number of models among which you will choose by these certificates.", metavar="N", panel=_CERTIFICATE),
]
TargetError = Annotated[
    float | None,
    _option(
        "Answer only where the model is sure enough, and certify this error rate among the answered rows.",
        metavar="RATE", panel=_CERTIFICATE,
    ),
]  # fmt: skip
TargetRecall = Annotated[
    float | None,
    _option(
        "Certify a threshold that finds this share of the rows of --positive-class.", metavar="RATE", panel=_CERTIFICATE
    ),
]
TargetPrecision = Annotated[
    float | None,
    _option(
        "Certify a threshold at which this share of the rows predicted as --positive-class is correct.",
        metavar="RATE", panel=_CERTIFICATE,
    ),
]  # fmt: skip
PositiveClass = Annotated[
    str | None, _option("The class that a recall or precision is about.", metavar="LABEL", panel=_CERTIFICATE)
]
Costs = Annotated[
    list[str] | None,
    _option(
        "Cost of a wrong answer, for each pair of labels: certify the expected cost of a row.",
        metavar="TRUTH:ANSWER=COST", panel=_CERTIFICATE,
    ),
]  # fmt: skip

# From options to parameters

GOALS = ("target_error", "target_recall", "target_precision", "costs")
"""Options that ask for a threshold; they exclude each other."""
PARAMETERS = (
    "hidden_layer_sizes", "n_estimators", "teacher", "codes", "class_weight", "learn_fraction", "delta",
    "n_candidates", "max_iter", "random_state",
)  # fmt: skip
"""Options of `abnet fit` that are parameters of the classifier."""


COLUMNS = ("use", "numeric", "categorical", "dates")
"""Options that name columns, and are parameters of the preparation of tables."""


def classifier(given: Mapping[str, Any], *, verbose: bool = False) -> Any:
    """An unfitted classifier from the options of a command; invalid options raise an error at once."""
    from abnet.certificates.split import drawn_seed
    from abnet.estimators.certified import CertifiedClassifier
    from abnet.tables.preparation import TablePreparation

    chosen = {name: given[name] for name in PARAMETERS if name in given}
    chosen["hidden_layer_sizes"] = widths(chosen["hidden_layer_sizes"])
    if chosen.get("n_estimators", "auto") != "auto":
        chosen["n_estimators"] = _whole("--n-estimators takes a number of networks or 'auto'", chosen["n_estimators"])
    if chosen.get("teacher", "").lower() == "none":
        chosen["teacher"] = None
    if chosen.get("learn_fraction", "auto") != "auto":
        chosen["learn_fraction"] = _number("--learn-fraction", chosen["learn_fraction"])
    if "target_error" in given:
        chosen["decision"] = goal_of(given)
    chosen["random_state"] = drawn_seed(chosen["random_state"])
    if "use" in given:
        if given["decimal"] not in ("auto", "comma", "point"):
            raise UsageError(f"--decimal must be 'auto', 'comma' or 'point', not {given['decimal']!r}.")
        named = {name: tuple(given[name] or ()) for name in COLUMNS if name in given}
        chosen["preprocessor"] = TablePreparation(
            max_categories=given["max_categories"], decimal=given["decimal"], **named
        )
    made = CertifiedClassifier(**chosen, verbose=int(verbose))
    made.settings()
    return made


def goal_of(given: Mapping[str, Any]) -> "Goal | None":
    """The goal of the answers; None if there is none."""
    from abnet.certificates import goals

    asked = [name for name in GOALS if given[name] not in (None, [], ())]
    if given["positive_class"] is not None and set(asked) <= {"target_error"}:
        raise UsageError("--positive-class goes with --target-recall or --target-precision: add one, or leave it out.")
    if not asked:
        return None
    if len(asked) > 1:
        first, second = (_spelled(name) for name in asked[:2])
        raise UsageError(f"{first} and {second} each set a threshold: give one of them.")
    name, value = asked[0], given[asked[0]]
    if name == "costs":
        return goals.Costs(costs_of(value))
    if not 0 < value < 1:
        raise UsageError(f"{_spelled(name)} must lie strictly between 0 and 1, not {value:g}.")
    if name == "target_error":
        return goals.TargetError(value)
    if given["positive_class"] is None:
        raise UsageError(f"{_spelled(name)} needs --positive-class LABEL.")
    kind = goals.TargetRecall if name == "target_recall" else goals.TargetPrecision
    return kind(value, positive=given["positive_class"])


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
        cuts = tuple(float(part) for part in text.split(",") if part.strip())
        return tuple(cuts) if "," in text else int(text)
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
    return tuple(_whole("--hidden-layer-sizes takes widths separated by commas", part) for part in text.split(","))


def costs_of(texts: list[str]) -> dict[tuple[str, str], float]:
    """Costs by truth and answer from ``TRUTH:ANSWER=COST``.

    Examples
    --------
    >>> costs_of(["ill:well=10", "well:ill=1"])
    {('ill', 'well'): 10.0, ('well', 'ill'): 1.0}
    """
    costs: dict[tuple[str, str], float] = {}
    for text in texts:
        pair, _, number = text.rpartition("=")
        truth, mark, answer = pair.partition(":")
        if not mark:
            raise UsageError(f"--costs takes TRUTH:ANSWER=COST, such as ill:well=10, not {text!r}.")
        named = truth.strip(), answer.strip()
        if named in costs:
            raise UsageError(f"--costs: {named[0]}:{named[1]} is given twice.")
        costs[named] = _number("--costs", number)
    return costs


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


_ELSEWHERE = ("output", "overwrite", "quiet", "details", "json")
"""Options that say where results go, and change nothing about the model."""


def command_line(context: typer.Context, seed: int) -> str:
    """The command line that repeats the running command, with the seed used and without options that only affect
    output."""
    parts = ["abnet", str(context.command.name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        typed = getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        if name in _ELSEWHERE or not (typed or name == "random_state"):
            continue
        value = seed if name == "random_state" else context.params[name]
        if value is True and getattr(parameter, "is_flag", False):
            parts.append(parameter.opts[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            parts += [str(parameter.metavar)] if isinstance(parameter, TyperArgument) else [parameter.opts[0], str(one)]
    return shlex.join(parts)


_HOMES = {
    **dict.fromkeys((*PARAMETERS, *GOALS, "positive_class", "max_categories", "decimal", *COLUMNS), "abnet fit"),
    **dict.fromkeys(("missing_label", "bins"), "abnet fit"),
    **{"max_learn_rows": "abnet fit", "unseen": "abnet predict", "on_error": "abnet predict"},
    **{"allow_shift": "abnet predict", "allow_training_rows": "abnet certify", "allow_repeat": "abnet monitor"},
    **dict.fromkeys(("data_dir", "download"), "abnet data"),
}
"""Parameters that are options of some command, and the command to name where the one at work lacks them."""


def _spelled(name: str) -> str:
    return "--" + {"dates": "date"}.get(name, name).replace("_", "-")


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
        return "a target, or --costs," if parameter.value is None else _of_goal(parameter.value)
    if parameter.name not in own and parameter.name not in _HOMES:
        return str(parameter)
    option = _spelled(parameter.name)
    if parameter.value is not None and parameter.value is not True:
        option += f" {parameter.value}"
    return option if parameter.name in own else f"{_HOMES[parameter.name]} {option}"


def _of_goal(goal: "goals.TargetRecall") -> str:
    """A goal as options."""
    return f"--target-recall {goal.recall:g} --positive-class {shlex.quote(goal.positive)}"
