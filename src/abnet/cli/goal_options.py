"""Options that ask for a goal; each goal declares its own (`abnet.certificates.goals`)."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter as Argument
from inspect import signature
from typing import Annotated, Any

import typer

from abnet.certificates.goals import Goal, GoalOption, goals_by_rank
from abnet.cli.console import UsageError

__all__ = ["as_command_line", "goal_option_names", "with_goal_options"]

_PANEL = "Certificate"


def with_goal_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all goals, in place of its parameter `goal`; a decorator."""
    arguments: list[Argument] = []
    for argument in signature(command).parameters.values():
        if argument.name == "goal":
            arguments += _arguments()
        else:
            arguments.append(argument)

    @wraps(command)
    def run(**values: Any) -> None:
        options = {name: values.pop(name) for name in goal_option_names()}
        command(goal=_goal_of(options, class_is_used=bool(values.get("gaps"))), **values)

    run.__signature__ = signature(command).replace(parameters=arguments)  # type: ignore[attr-defined]
    run.__annotations__ = {argument.name: argument.annotation for argument in arguments}
    return run


def goal_option_names() -> list[str]:
    """Parameter names of the options that ask for a goal."""
    return [argument.name for argument in _arguments()]


def _arguments() -> list[Argument]:
    """The options as arguments of a command: those that need the positive class come before it."""
    options = [kind.option for kind in goals_by_rank()]
    needing_class = [option for option in options if option.positive_class == "required"]
    last = options.index(needing_class[-1])
    before = [_argument(option) for option in options[: last + 1]]
    after = [_argument(option) for option in options[last + 1 :]]
    declared = typer.Option(metavar="LABEL", rich_help_panel=_PANEL, help="The class that this rate is about.")
    positive_class = Argument(
        "positive_class", Argument.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[str | None, declared]
    )
    return [*before, positive_class, *after]


def _argument(option: GoalOption) -> Argument:
    declared = typer.Option(metavar=option.metavar, rich_help_panel=_PANEL, help=option.help)
    return Argument(
        option.name, Argument.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[option.type | None, declared]
    )


def _goal_of(values: Mapping[str, Any], *, class_is_used: bool) -> Goal | None:
    """The goal that the options ask for; None if they ask for none.

    Parameters
    ----------
    values : dict
    class_is_used : bool
        Whether another option of the command is about the positive class.
    """
    positive_class = values["positive_class"]
    kinds = goals_by_rank()
    chosen = [kind for kind in kinds if values[kind.option.name] not in (None, [], ())]
    if len(chosen) > 1:
        first, second = (_flag(kind.option.name) for kind in chosen[:2])
        raise UsageError(f"{first} and {second} each set a threshold: give one of them.")
    if (
        positive_class is not None
        and not class_is_used
        and all(kind.option.positive_class == "refused" for kind in chosen)
    ):
        needing_class = [_flag(kind.option.name) for kind in kinds if kind.option.positive_class == "required"]
        raise UsageError(f"--positive-class goes with {_either(needing_class)}: add one, or leave it out.")
    if not chosen:
        return None
    kind = chosen[0]
    return kind.from_option(values[kind.option.name], positive_class)


def as_command_line(goal: Goal) -> str:
    """A goal as options with their values.

    Examples
    --------
    >>> from abnet import TargetRecall
    >>> as_command_line(TargetRecall(0.9, positive="very ill"))
    "--target-recall 0.9 --positive-class 'very ill'"
    """
    words = []
    for name, value in goal.as_options().items():
        values = value
        if not isinstance(value, list):
            values = [value]
        for each in values:
            words += [_flag(name), str(each)]
    return shlex.join(words)


def _flag(name: str) -> str:
    """The option of a parameter."""
    return "--" + name.replace("_", "-")


def _either(words: Sequence[str]) -> str:
    """Alternatives, joined by "or".

    Examples
    --------
    >>> _either(["recall"]), _either(["recall", "precision", "cost"])
    ('recall', 'recall, precision or cost')
    """
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"
