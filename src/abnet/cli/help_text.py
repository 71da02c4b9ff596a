"""Commands whose help shows what to type, not the types of Python."""

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


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
