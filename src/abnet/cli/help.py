"""Help for commands: plain text that fits the terminal, with rarely used options under ``--help-all``."""

import textwrap
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from abnet.cli.console import width

__all__ = ["Command", "Group"]

GAP = 2
MOST = 26
"""Columns of an option's name; a longer name has a line of its own."""


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
        return super().parse_args(ctx, ["--help", *args[1:]] if args[:1] == [_HELP_ALL] else args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(help_text(self, ctx))


_HELP_ALL = "--help-all"


def help_text(command: Any, ctx: Any, *, everything: bool = False) -> str:
    """The help of a command or a group, filled to the width of the terminal."""
    columns = width(most=100)
    lines = [f"Usage: {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}", ""]
    for paragraph in _paragraphs(command.help or ""):
        lines += [*_filled(paragraph, columns), ""]
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False) and not everything:
            continue
        home = "Arguments" if isinstance(parameter, TyperArgument) else "Options"
        home = getattr(parameter, "rich_help_panel", None) or home
        sections.setdefault(home, []).append((_name(parameter), _about(parameter)))
    if getattr(command, "has_more", False) and not everything:
        sections["Options"].append((_HELP_ALL, "Show rarely used options too, and exit."))
    named = getattr(command, "commands", {})
    if named:
        sections["Commands"] = [(name, below.get_short_help_str(200)) for name, below in named.items()]
    for title, entries in sections.items():
        lines += [f"{title}:", *_definitions(entries, columns), ""]
    for paragraph in _paragraphs(getattr(command, "epilog", None) or ""):
        lines += [*_filled(paragraph, columns), ""]
    return "\n".join(lines).rstrip() + "\n"


def _paragraphs(text: str) -> list[str]:
    return [part for part in textwrap.dedent(text).strip().split("\n\n") if part.strip()]


def _filled(paragraph: str, columns: int) -> list[str]:
    """A paragraph of prose, filled; examples keep their lines."""
    lines = [line.rstrip() for line in paragraph.splitlines()]
    if all(line.lstrip().startswith(_EXAMPLES) for line in lines):
        return [f"  {line}" for line in lines]
    return textwrap.wrap(" ".join(paragraph.split()), columns, break_on_hyphens=False)


_EXAMPLES = ("abnet ", "zcat ", "--")
"""Beginnings of the lines of an example."""


def _name(parameter: Any) -> str:
    if isinstance(parameter, TyperArgument):
        return str(parameter.metavar or parameter.name).strip("[]")
    short = [option for option in parameter.opts if not option.startswith("--")]
    long = [option for option in (*parameter.opts, *parameter.secondary_opts) if option.startswith("--")]
    value = "" if getattr(parameter, "is_flag", False) or not parameter.metavar else f" {parameter.metavar}"
    return ", ".join([*short, "/".join(long)]) + value


def _about(parameter: Any) -> str:
    """The help of a parameter, with its default if it has an informative one."""
    text, default = parameter.help or "", getattr(parameter, "default", None)
    if parameter.required:
        return text if isinstance(parameter, TyperArgument) else f"{text} (required)"
    told = parameter.show_default if isinstance(parameter.show_default, str) else default
    if told is None or isinstance(told, bool) or told in ("", (), []) or parameter.show_default is False:
        return text
    return f"{text} [default: {told}]"


def _definitions(entries: list[tuple[str, str]], columns: int) -> list[str]:
    """Names and their descriptions in two columns."""
    left = max((len(name) for name, _ in entries if len(name) <= MOST), default=MOST) + 2 + GAP
    lines = []
    for name, text in entries:
        said = textwrap.wrap(text, max(columns - left, 20), break_on_hyphens=False) or [""]
        start = f"  {name}"
        if len(start) + GAP > left:
            lines.append(start)
            start = ""
        lines += [f"{start.ljust(left)}{said[0]}".rstrip(), *(f"{' ' * left}{line}" for line in said[1:])]
    return lines
