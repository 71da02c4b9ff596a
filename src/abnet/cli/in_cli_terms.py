"""Messages of the library, which speak of Python's parameters, in the words of the command line."""

import re
from collections.abc import Collection

from abnet.cli.options import PARAMETERS

__all__ = ["spoken"]


_HOMES = {
    **dict.fromkeys((*PARAMETERS, "max_categories"), "abnet fit"),
    **dict.fromkeys(("decimal", "use"), "abnet fit"),
    "unseen": "abnet predict",
    **dict.fromkeys(("data_dir", "download"), "abnet data"),
}
"""Parameters that are options of some command, and the command to name where the one at work lacks them."""

_ONLY_PYTHON = (", with sample_weight to stress some of them",)

_ANY = "|".join(_HOMES)

_COMPOUND = "|".join(name for name in _HOMES if "_" in name)

# Not where it is part of a path or of another word, nor where quotes make it a name in the user's table.
_BEFORE, _AFTER = r"(?<![\w'\"/.=-])", r"(?![\w'\"/=-]|\.\w)"

_SETTING = re.compile(rf"{_BEFORE}({_ANY})=(?:'([^']*)'|True\b)")

_SUBJECT = re.compile(rf"^({_ANY})(?= must )")

_MENTION = re.compile(rf"{_BEFORE}({_COMPOUND}){_AFTER}")


def spoken(text: str, options: Collection[str]) -> str:
    """A message with options in the place of parameters.

    Parameters
    ----------
    text : str
    options : collection of str
        Parameters that the command has options for; other options are given with their command.

    Examples
    --------
    >>> spoken("posterior='frozen' needs a learned prior: use prior='split'.", {"posterior", "prior"})
    '--posterior frozen needs a learned prior: use --prior split.'
    >>> spoken("delta must lie strictly between 0 and 1; got 2.", {"delta"})
    '--delta must lie strictly between 0 and 1; got 2.'
    >>> spoken("name a folder by data_dir, or use download=True; not column 'data_dir'", {"data_dir", "download"})
    "name a folder by --data-dir, or use --download; not column 'data_dir'"
    >>> spoken("use aggregation='ancestral'", {"delta"})
    'use abnet fit --aggregation ancestral'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match[2] if match.re is _SETTING else None
        typed = "--" + name.replace("_", "-") + (f" {value}" if value is not None else "")
        return typed if name in options else f"{_HOMES[name]} {typed}"

    for clause in _ONLY_PYTHON:
        text = text.replace(clause, "")
    for pattern in (_SETTING, _SUBJECT, _MENTION):
        text = pattern.sub(option, text)
    return text
