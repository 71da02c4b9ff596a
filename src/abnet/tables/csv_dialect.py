"""The dialect of a text table: which character separates its cells, and whether spaces after it belong to them."""

import csv
import re
from dataclasses import dataclass
from itertools import islice

__all__ = ["Dialect", "named_separator", "separator_of"]

_LINES = 20
"""Lines that show how cells are separated."""

_SEPARATORS = ",;\t| "
"""Separators in the order in which they are tried."""

_NAMED = re.compile(r"""["']?sep=(.)["']?\r?\n""")


@dataclass(frozen=True)
class Dialect:
    """How the rows of a text table are written; quotes are always ``"``, and doubled inside a quoted cell.

    Attributes
    ----------
    separator : str
        One character.
    skip_spaces : bool
        Whether spaces after a separator are skipped. In tables with tabs they belong to the cell.
    """

    separator: str
    skip_spaces: bool = True


def separator_of(start: str) -> str:
    """Detect the separator of a text table from its first lines: the first of ``, ; tab | space`` with equal rows.

    If none does, it is the first one in the header outside quotes, except for spaces.

    Examples
    --------
    >>> separator_of("a,b;c\\n1,2;3\\n"), separator_of("size, cm;weight\\n1,5;2\\n3;4\\n"), separator_of("a|b")
    (',', ';', '|')
    >>> separator_of("name\\nMary Ann\\n"), separator_of("first name\\nMary\\n"), separator_of('"x" "y"\\n1 2 3')
    (',', ',', ' ')
    """
    lines = [line for line in start.split("\n") if line.strip()][:_LINES]
    for separator in _SEPARATORS:
        if _makes_equal_rows(lines, separator):
            return separator
    header_outside_quotes = "".join(lines[0].split('"')[::2])
    for separator in _SEPARATORS.replace(" ", ""):
        if separator in header_outside_quotes:
            return separator
    return ","


def _makes_equal_rows(lines: list[str], separator: str) -> bool:
    """Whether all rows have as many cells as the header, or all have one more, as R writes rows with names."""
    try:
        rows = list(islice(csv.reader(lines, delimiter=separator, skipinitialspace=True), _LINES))
    except csv.Error:
        return False
    widths = [len(row) for row in rows]
    header_width = widths[0]
    row_widths = set(widths[1:] or widths)
    return header_width > 1 and row_widths in ({header_width}, {header_width + 1})


def named_separator(start: str) -> tuple[str, str] | None:
    """The separator that a first line such as ``sep=;`` names, as Excel understands it, and that line.

    Examples
    --------
    >>> named_separator("sep=;\\na;b\\n"), named_separator("a;b\\n")
    ((';', 'sep=;\\n'), None)
    """
    match = _NAMED.match(start)
    if match is None:
        return None
    return match[1], match[0]
