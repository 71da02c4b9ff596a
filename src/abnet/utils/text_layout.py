"""Text for a page of limited width: wrapped paragraphs and aligned tables."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from abnet.utils.wording import shortened

__all__ = ["aligned", "page_width", "paragraphs"]

_PAGE_WIDTH: ContextVar[int] = ContextVar("abnet_page", default=80)
"""Default width of the output in characters: that of most terminals."""

_GAP = "  "
"""What separates two columns of a table."""

_LONG_NAME = 20
"""Names in the first column are cut to this many characters before columns are dropped."""

_SHORT_NAME = 12
"""Names in the first column are cut to this many characters if the table is still too wide."""

Lines = list[list[str]]
"""The cells of a table, line by line."""


@contextmanager
def page_width(columns: int) -> Iterator[None]:
    """Set the width of paragraphs and tables made in a block.

    Examples
    --------
    >>> with page_width(20):
    ...     print(paragraphs("The error rate is at most 3%."))
    The error rate is at
    most 3%.
    """
    token = _PAGE_WIDTH.set(columns)
    try:
        yield
    finally:
        _PAGE_WIDTH.reset(token)


def paragraphs(*sections: str) -> str:
    """The sections that are not empty, wrapped to the page, with an empty line between them.

    Examples
    --------
    >>> print(paragraphs("One.", "", "Two."))
    One.
    <BLANKLINE>
    Two.
    """
    return "\n\n".join(textwrap.fill(text, _PAGE_WIDTH.get(), break_on_hyphens=False) for text in sections if text)


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1, least: int | None = None, breaks: bool = True) -> str:
    """A table as text: the first `left` columns flush left, the others flush right.

    If the page is too narrow, the header is broken into two lines, long names in the first column are cut, and
    columns are dropped from the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The header, if any, comes first.
    left : int
    least : int, optional
        Number of columns that are never dropped; by default all.
    breaks : bool
        Whether the first row is a header that may be broken.

    Examples
    --------
    >>> print(aligned([["", "error"], ["class no", "3%"]]))
              error
    class no     3%
    >>> with page_width(24):
    ...     print(aligned([["", "error rate (upper bound)"], ["class no", "3%"]]))
                error rate
              (upper bound)
    class no             3%
    """
    available = _PAGE_WIDTH.get()
    lines = [list(row) for row in rows]
    if breaks and _width(lines) > available:
        lines = _with_broken_header(lines, left)
    lines = _with_short_names(lines, available, _LONG_NAME)
    if least is not None:
        lines = _without_last_columns(lines, available, least)
    lines = _with_short_names(lines, available, _SHORT_NAME)
    widths = _widths(lines)
    return "\n".join(_padded(line, widths, left) for line in lines)


def _padded(line: Sequence[str], widths: Sequence[int], left: int) -> str:
    """A line of a table, its first `left` cells flush left."""
    cells = []
    for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
        if place < left:
            cells.append(cell.ljust(width))
        else:
            cells.append(cell.rjust(width))
    return _GAP.join(cells).rstrip()


def _with_broken_header(lines: Lines, left: int) -> Lines:
    """Break the header of each column but the first `left` ones into two lines."""
    header = lines[0]
    upper = [""] * left
    lower = header[:left]
    for text in header[left:]:
        first_half, second_half = _halves(text)
        upper.append(first_half)
        lower.append(second_half)
    if not any(upper):
        return [lower, *lines[1:]]
    return [upper, lower, *lines[1:]]


def _halves(text: str) -> tuple[str, str]:
    """Break a header before one of its words, so that the longer of the two lines is as short as possible.

    Examples
    --------
    >>> _halves("error rate (upper bound)"), _halves("AUC")
    (('error rate', '(upper bound)'), ('', 'AUC'))
    """
    words = text.split()
    halves = [(" ".join(words[:place]), " ".join(words[place:])) for place in range(max(len(words), 1))]
    return min(halves, key=lambda pair: max(map(len, pair)))


def _with_short_names(lines: Lines, available: int, least: int) -> Lines:
    """Cut the first cell of each line until the table fits, but not to fewer than `least` characters."""
    excess = _width(lines) - available
    if excess <= 0:
        return lines
    longest = max(len(line[0]) for line in lines)
    most = max(longest - excess, least)
    return [[shortened(line[0], most), *line[1:]] for line in lines]


def _without_last_columns(lines: Lines, available: int, least: int) -> Lines:
    """Drop columns from the right until the table fits, but not the first `least` ones."""
    while len(lines[0]) > least and _width(lines) > available:
        lines = [line[:-1] for line in lines]
    return lines


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """Characters of the longest cell of each column."""
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _width(lines: Sequence[Sequence[str]]) -> int:
    """Characters of a line of the table."""
    widths = _widths(lines)
    return sum(widths) + len(_GAP) * (len(widths) - 1)
