"""Help for commands: plain text that fits the terminal, with rarely used options under ``--help-all``."""

import textwrap
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from abnet.cli.console import width

__all__ = ["Command", "Group"]

LONGEST_NAME = 26
"""Characters of an option's name; a longer name has a line of its own."""
INDENT = 2
GAP = 2
"""Spaces before the names of options, and between them and their descriptions."""
NARROWEST = 20
"""Minimum width of the descriptions."""
_HELP_ALL = "--help-all"
_EXAMPLES = ("abnet ", "zcat ", "--")
"""Beginnings of the lines of an example."""


class Command(TyperCommand):
    """A command with plain help; options that are hidden appear with ``--help-all``."""

    @property
    def has_more(self) -> bool:
        """Whether ``--help-all`` shows more."""
        return any(getattr(parameter, "hidden", False) for parameter in self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, unless ``--help-all`` is one of them."""
        if _HELP_ALL in args:
            typer.echo(help_text(self, ctx, everything=True), nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line, with what is required as it is, and what is not in brackets."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(help_text(self, ctx))


class Group(TyperGroup):
    """A group of commands with plain help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a group has nothing rare to show, so ``--help-all`` is ``--help``."""
        if args[:1] == [_HELP_ALL]:
            args = ["--help", *args[1:]]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(help_text(self, ctx))


def help_text(command: Any, ctx: Any, *, everything: bool = False) -> str:
    """The help of a command or a group, filled to the width of the terminal."""
    columns = width(most=100)
    lines = [f"Usage: {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}", ""]
    for paragraph in _paragraphs(command.help or ""):
        lines += [*_filled(paragraph, columns), ""]
    for title, entries in _sections(command, ctx, everything).items():
        lines += [f"{title}:", *_definitions(entries, columns), ""]
    for paragraph in _paragraphs(getattr(command, "epilog", None) or ""):
        lines += [*_filled(paragraph, columns), ""]
    return "\n".join(lines).rstrip() + "\n"


def _sections(command: Any, ctx: Any, everything: bool) -> dict[str, list[tuple[str, str]]]:
    """Arguments, options and commands: names and descriptions under their titles."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False) and not everything:
            continue
        title = getattr(parameter, "rich_help_panel", None)
        if not title and isinstance(parameter, TyperArgument):
            title = "Arguments"
        if not title:
            title = "Options"
        sections.setdefault(title, []).append((_name(parameter), _description(parameter)))
    if getattr(command, "has_more", False) and not everything:
        sections["Options"].append((_HELP_ALL, "Show rarely used options too, and exit."))
    subcommands = getattr(command, "commands", {})
    if subcommands:
        sections["Commands"] = [(name, one.get_short_help_str(200)) for name, one in subcommands.items()]
    return sections


def _paragraphs(text: str) -> list[str]:
    return [part for part in textwrap.dedent(text).strip().split("\n\n") if part.strip()]


def _filled(paragraph: str, columns: int) -> list[str]:
    """A paragraph of prose, filled; examples keep their lines."""
    lines = [line.rstrip() for line in paragraph.splitlines()]
    if all(line.lstrip().startswith(_EXAMPLES) for line in lines):
        return [f"  {line}" for line in lines]
    return textwrap.wrap(" ".join(paragraph.split()), columns, break_on_hyphens=False)


def _name(parameter: Any) -> str:
    """An option with its spellings and its value, or an argument."""
    if isinstance(parameter, TyperArgument):
        return str(parameter.metavar or parameter.name).strip("[]")
    short = [option for option in parameter.opts if not option.startswith("--")]
    long = [option for option in (*parameter.opts, *parameter.secondary_opts) if option.startswith("--")]
    name = ", ".join([*short, "/".join(long)])
    if getattr(parameter, "is_flag", False) or not parameter.metavar:
        return name
    return f"{name} {parameter.metavar}"


def _description(parameter: Any) -> str:
    """The help of a parameter, with its default if it has an informative one."""
    text = parameter.help or ""
    if parameter.required and isinstance(parameter, TyperArgument):
        return text
    if parameter.required:
        return f"{text} (required)"
    default = getattr(parameter, "default", None)
    if isinstance(parameter.show_default, str):
        default = parameter.show_default
    is_informative = default is not None and not isinstance(default, bool) and default not in ("", (), [])
    if parameter.show_default is False or not is_informative:
        return text
    return f"{text} [default: {default}]"


def _definitions(entries: list[tuple[str, str]], columns: int) -> list[str]:
    """Names and their descriptions in two columns."""
    longest = max((len(name) for name, _ in entries if len(name) <= LONGEST_NAME), default=LONGEST_NAME)
    left = INDENT + longest + GAP
    margin = " " * left
    lines = []
    for name, text in entries:
        description = textwrap.wrap(text, max(columns - left, NARROWEST), break_on_hyphens=False) or [""]
        start = " " * INDENT + name
        if len(start) + GAP > left:
            lines.append(start)
            start = ""
        lines.append(f"{start.ljust(left)}{description[0]}".rstrip())
        lines += [f"{margin}{line}" for line in description[1:]]
    return lines
