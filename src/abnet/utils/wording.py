"""Numbers and short texts for a reader: percentages rounded to the safe side, plurals, shortened texts."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

__all__ = [
    "confidence",
    "figure_up",
    "first_few",
    "given_percent",
    "number_of",
    "percent",
    "percent_down",
    "percent_up",
    "percentage_points",
    "printable",
    "shortened",
    "stated",
    "whole_percents",
]


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> number_of(1, "row"), number_of(1200, "row"), number_of(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    if count == 1:
        return f"1 {noun}"
    if plural is None:
        plural = f"{noun}s"
    return f"{count:,} {plural}"


def percent(rate: float) -> str:
    """An observed rate, rounded to the nearest tenth of a percent.

    Examples
    --------
    >>> percent(0.377), percent(0.0005), percent(0.0)
    ('37.7%', '0.05%', '0%')
    """
    return _percent(rate, ROUND_HALF_EVEN)


def given_percent(rate: float) -> str:
    """A rate that was given, such as a target, without rounding.

    Examples
    --------
    >>> given_percent(0.05), given_percent(0.0499), given_percent(1e-7)
    ('5%', '4.99%', '0.00001%')
    """
    return f"{_trimmed(Decimal(repr(float(rate))) * 100)}%"


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
    """A rate in tenths of a percent; below 1% in hundredths."""
    step = Decimal("0.1")
    if abs(rate) < 0.01:
        step = Decimal("0.01")
    percentage = (Decimal(rate) * 100).quantize(step, rounding=rounding)
    return f"{_trimmed(percentage)}%"


def percentage_points(change: float) -> str:
    """A change of a rate in percentage points, with its sign; a change that rounds to zero is +0.0.

    Examples
    --------
    >>> percentage_points(0.0271), percentage_points(-0.0001)
    ('+2.7', '+0.0')
    """
    points = round(100 * change, 1) + 0.0  # turns -0.0 into 0.0
    return f"{points:+.1f}"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Shares of a whole as whole percentages that add up to 100 (the largest remainders are rounded up).

    Examples
    --------
    >>> whole_percents([0.004, 0.074, 0.922]), whole_percents([1 / 3, 1 / 3, 1 / 3])
    ([1, 7, 92], [34, 33, 33])
    """
    total = sum(shares)
    exact = [100 * share / total for share in shares]
    percentages = [int(value) for value in exact]
    n_to_round_up = 100 - sum(percentages)
    by_remainder = sorted(range(len(exact)), key=lambda place: percentages[place] - exact[place])
    for place in by_remainder[:n_to_round_up]:
        percentages[place] += 1
    return percentages


def stated(rate: float) -> str:
    """A rate given by the user, with the same decimals.

    Examples
    --------
    >>> stated(0.05), stated(0.975), stated(0.0001)
    ('5%', '97.5%', '0.01%')
    """
    percentage = _as_written(rate) * 100
    return f"{_trimmed(percentage)}%"


def confidence(delta: float) -> str:
    """``1 - δ`` as a percentage, rounded down.

    Examples
    --------
    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    percentage = (1 - _as_written(delta)) * 100
    rounded = percentage.quantize(Decimal("0.0001"), rounding=ROUND_FLOOR)
    return f"{_trimmed(rounded)}%"


def figure_up(bound: float, digits: int = 4) -> str:
    """An upper bound that is not a rate, such as a cost, with a few digits, rounded up.

    Examples
    --------
    >>> figure_up(0.66643401), figure_up(12.0), figure_up(-0.01234567)
    ('0.6665', '12', '-0.01234')
    """
    with localcontext() as context:
        context.prec = digits
        context.rounding = ROUND_CEILING
        rounded = +Decimal(bound)  # the plus rounds to the precision of the context
    return _trimmed(rounded)


def _as_written(number: float) -> Decimal:
    """The decimal number that Python prints for a float: 0.05, and not 0.05000000000000000277."""
    return Decimal(repr(float(number)))


def _trimmed(number: Decimal) -> str:
    """A number without zeros at the end of its decimals."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text == "-0":
        return "0"
    return text


def shortened(text: str, most: int = 24) -> str:
    """A text of at most `most` characters; a longer one is cut and ends in "…".

    Examples
    --------
    >>> shortened("abcdef", 4), shortened("abcd", 4)
    ('abc…', 'abcd')
    """
    if len(text) <= most:
        return text
    return text[: most - 1] + "…"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """The first names of a list, and "…" if there are more.

    Examples
    --------
    >>> first_few(["1", "2", "3"], most=2), first_few(["1", "2"], most=2)
    ('1, 2, …', '1, 2')
    """
    shown = ", ".join(names[:most])
    if len(names) > most:
        return f"{shown}, …"
    return shown


def printable(text: str, most: int = 40) -> str:
    """A text from a table for a line of output: control characters are escaped, and long texts are shortened.

    Examples
    --------
    >>> printable("a\\nb\\x1b[2J"), printable("gr\\u202eoß"), printable("n" * 300, 10)
    ('a\\\\nb\\\\x1b[2J', 'gr\\\\u202eoß', 'nnnnnnnnn…')
    """
    characters = []
    for character in text[: 4 * most]:  # more are cut anyway
        if character.isprintable():
            characters.append(character)
        else:
            characters.append(character.encode("unicode_escape").decode("ascii"))
    return shortened("".join(characters), most)
