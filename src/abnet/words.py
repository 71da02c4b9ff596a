"""Numbers as people write them: percentages that never flatter, plurals, aligned tables and wrapped paragraphs."""

import textwrap
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

__all__ = [
    "aligned",
    "confidence",
    "figure_up",
    "number_of",
    "paragraphs",
    "percent",
    "percent_down",
    "percent_up",
    "stated",
    "whole_percents",
]

WIDTH = 80
"""Columns of a paragraph: what a terminal has at least."""


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> number_of(1, "row"), number_of(1200, "row"), number_of(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(rate: float) -> str:
    """A rate that was observed, to the nearest tenth of a percent.

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
    """A rate that somebody asked for, with the decimals that were asked for.

    Examples
    --------
    >>> stated(0.05), stated(0.975), stated(0.0001)
    ('5%', '97.5%', '0.01%')
    """
    return f"{_trimmed(Decimal(repr(float(rate))) * 100)}%"


def confidence(delta: float) -> str:
    """``1 - δ`` as a percentage, never more than it is.

    Examples
    --------
    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    rest = (1 - Decimal(repr(float(delta)))) * 100
    return f"{_trimmed(rest.quantize(Decimal('0.0001'), rounding=ROUND_FLOOR))}%"


def figure_up(bound: float, digits: int = 4) -> str:
    """An upper bound that is no rate, such as a cost, with a few digits, rounded up.

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


def paragraphs(*sections: str, width: int = WIDTH) -> str:
    """The sections that are not empty, wrapped, with an empty line between them.

    Examples
    --------
    >>> print(paragraphs("One.", "", "Two."))
    One.
    <BLANKLINE>
    Two.
    """
    return "\n\n".join(textwrap.fill(text, width, break_on_hyphens=False) for text in sections if text)


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table as text: the first `left` columns flush left, the others flush right.

    Examples
    --------
    >>> print(aligned([["", "error"], ["class no", "3%"]]))
              error
    class no     3%
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [*[str.ljust] * left, *[str.rjust] * (len(widths) - left)]
    lines = ([pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)
