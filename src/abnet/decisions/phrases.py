"""Percentages that are rounded to the safe side, and the sentences that decisions share."""

import textwrap
from decimal import ROUND_FLOOR, Decimal

from abnet.bounds.wording import confidence, percent, percent_up

__all__ = ["confidence", "paragraphs", "percent", "percent_down", "percent_up", "stated"]

_WIDTH = 100


def percent_down(bound: float) -> str:
    """Write a lower limit as a percentage, rounded down.

    Examples
    --------
    >>> percent_down(0.7599), percent_down(0.00129), percent_down(1.0)
    ('75.9 %', '0.12 %', '100 %')
    """
    digits = Decimal("0.1") if bound >= 0.01 else Decimal("0.01")
    text = f"{(Decimal(bound) * 100).quantize(digits, rounding=ROUND_FLOOR):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def stated(rate: float) -> str:
    """Write a rate that somebody asked for as a percentage, with the decimals that were asked for.

    Examples
    --------
    >>> stated(0.05), stated(0.975), stated(0.0001)
    ('5 %', '97.5 %', '0.01 %')
    """
    text = f"{Decimal(repr(float(rate))) * 100:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def paragraphs(*sections: str) -> str:
    """Wrap the sections that are not empty, with an empty line between them.

    Examples
    --------
    >>> print(paragraphs("One.", "", "Two."))
    One.
    <BLANKLINE>
    Two.
    """
    return "\n\n".join(textwrap.fill(section, _WIDTH) for section in sections if section)
