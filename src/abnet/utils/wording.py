"""Text output: percentages rounded to the safe side, plurals, aligned tables and wrapped paragraphs."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

__all__ = [
    "aligned",
    "confidence",
    "figure_up",
    "number_of",
    "page",
    "paragraphs",
    "percent",
    "percent_down",
    "percent_up",
    "percentage_points",
    "printable",
    "stated",
    "whole_percents",
]

_PAGE: ContextVar[int] = ContextVar("abnet_page", default=80)
"""Default width of the output in characters: that of most terminals."""


@contextmanager
def page(columns: int) -> Iterator[None]:
    """Set the width of paragraphs and tables made in a block.

    Examples
    --------
    >>> with page(20):
    ...     print(paragraphs("The error rate is at most 3%."))
    The error rate is at
    most 3%.
    """
    token = _PAGE.set(columns)
    try:
        yield
    finally:
        _PAGE.reset(token)


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> number_of(1, "row"), number_of(1200, "row"), number_of(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(rate: float) -> str:
    """An observed rate, rounded to the nearest tenth of a percent.

    Examples
    --------
    >>> percent(0.377), percent(0.0005), percent(0.0)
    ('37.7%', '0.05%', '0%')
    """
    return _percent(rate, ROUND_HALF_EVEN)


def percent_up(bound: float) -> str:
    """An upper bound, rounded up.

    Examples
    --------
    >>> percent_up(0.04001), percent_up(0.001201), percent_up(1.0)
    ('4.1%', '0.13%', '100%')
    """
    return _percent(bound, ROUND_CEILING)


def percent_down(bound: float) -> str:
    """A lower bound, rounded down.

    Examples
    --------
    >>> percent_down(0.7599), percent_down(0.00129), percent_down(1.0)
    ('75.9%', '0.12%', '100%')
    """
    return _percent(bound, ROUND_FLOOR)


def _percent(rate: float, rounding: str) -> str:
    step = Decimal("0.1") if abs(rate) >= 0.01 else Decimal("0.01")
    return f"{_trimmed((Decimal(rate) * 100).quantize(step, rounding=rounding))}%"


def percentage_points(change: float) -> str:
    """A change of a rate in percentage points, with its sign; what rounds to nothing is +0.0.

    Examples
    --------
    >>> percentage_points(0.0271), percentage_points(-0.0001)
    ('+2.7', '+0.0')
    """
    return f"{round(100 * change, 1) + 0.0:+.1f}"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Shares of a whole as whole percentages that add up to 100 (largest remainders are rounded up).

    Examples
    --------
    >>> whole_percents([0.004, 0.074, 0.922]), whole_percents([1 / 3, 1 / 3, 1 / 3])
    ([1, 7, 92], [34, 33, 33])
    """
    total = sum(shares)
    exact = [100 * share / total for share in shares]
    found = [int(value) for value in exact]
    rest = sorted(range(len(exact)), key=lambda place: found[place] - exact[place])
    for place in rest[: 100 - sum(found)]:
        found[place] += 1
    return found


def stated(rate: float) -> str:
    """A rate given by the user, with the same decimals.

    Examples
    --------
    >>> stated(0.05), stated(0.975), stated(0.0001)
    ('5%', '97.5%', '0.01%')
    """
    return f"{_trimmed(Decimal(repr(float(rate))) * 100)}%"


def confidence(delta: float) -> str:
    """``1 - δ`` as a percentage, rounded down.

    Examples
    --------
    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    rest = (1 - Decimal(repr(float(delta)))) * 100
    return f"{_trimmed(rest.quantize(Decimal('0.0001'), rounding=ROUND_FLOOR))}%"


def figure_up(bound: float, digits: int = 4) -> str:
    """An upper bound that is not a rate, such as a cost, with a few digits, rounded up.

    Examples
    --------
    >>> figure_up(0.66643401), figure_up(12.0), figure_up(-0.01234567)
    ('0.6665', '12', '-0.01234')
    """
    with localcontext() as context:
        context.prec, context.rounding = digits, ROUND_CEILING
        return _trimmed(+Decimal(bound))


def _trimmed(number: Decimal) -> str:
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def printable(text: str, most: int = 40) -> str:
    """A text from a table for a line of output: control characters are escaped, and long texts are shortened.

    Examples
    --------
    >>> printable("a\\nb\\x1b[2J"), printable("gr\\u202eoß"), printable("n" * 300, 10)
    ('a\\\\nb\\\\x1b[2J', 'gr\\\\u202eoß', 'nnnnnnnnn…')
    """
    characters = []
    for character in text[: 4 * most]:
        if character.isprintable():
            characters.append(character)
        else:
            characters.append(character.encode("unicode_escape").decode("ascii"))
    return _cut("".join(characters), most)


def paragraphs(*sections: str) -> str:
    """The sections that are not empty, wrapped to the page, with an empty line between them.

    Examples
    --------
    >>> print(paragraphs("One.", "", "Two."))
    One.
    <BLANKLINE>
    Two.
    """
    return "\n\n".join(textwrap.fill(text, _PAGE.get(), break_on_hyphens=False) for text in sections if text)


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
    >>> with page(24):
    ...     print(aligned([["", "error rate (upper bound)"], ["class no", "3%"]]))
                error rate
              (upper bound)
    class no             3%
    """
    lines, room = [list(row) for row in rows], _PAGE.get()
    if breaks and _width(lines) > room:
        head = [*(("", name) for name in lines[0][:left]), *map(_halves, lines[0][left:])]
        upper, lower = map(list, zip(*head, strict=True))
        lines = [*[upper] * any(upper), lower, *lines[1:]]
    lines = _with_short_names(lines, room, 20)
    while least is not None and len(lines[0]) > least and _width(lines) > room:
        lines = [line[:-1] for line in lines]
    lines = _with_short_names(lines, room, 12)
    widths = _widths(lines)
    pads = [*[str.ljust] * left, *[str.rjust] * (len(widths) - left)]
    cells = ([pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in cells)


def _with_short_names(lines: list[list[str]], room: int, least: int) -> list[list[str]]:
    """Lines that fit, if that takes no more than to cut the first cells to `least` characters."""
    over = _width(lines) - room
    if over <= 0:
        return lines
    most = max(max(len(line[0]) for line in lines) - over, least)
    return [[_cut(line[0], most), *line[1:]] for line in lines]


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _width(lines: Sequence[Sequence[str]]) -> int:
    return sum(_widths(lines)) + 2 * (len(lines[0]) - 1)


def _halves(text: str) -> tuple[str, str]:
    """A header in two lines, the second one full: as even as its words allow.

    Examples
    --------
    >>> _halves("error rate (upper bound)"), _halves("AUC")
    (('error rate', '(upper bound)'), ('', 'AUC'))
    """
    words = text.split()
    halves = [(" ".join(words[:place]), " ".join(words[place:])) for place in range(max(len(words), 1))]
    return min(halves, key=lambda pair: max(map(len, pair)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
