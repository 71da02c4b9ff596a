"""How numbers are written in a column: decimal mark, thousands, unit or currency, brackets, limits, durations."""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from abnet.tables.cells import is_gap, is_missing, to_number
from abnet.tables.durations import seconds

if TYPE_CHECKING:
    import polars

__all__ = ["BLANKS", "BRACKETS", "LIMIT", "MARKED", "NumberForm", "PLAIN", "THOUSANDS", "are_codes", "unit_of"]

BLANKS = "[ \t\u00a0\u2009\u202f]"
"""Blanks inside a number, or between it and its unit, as a class of characters."""

THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": BLANKS, "'": "['’]"}
"""Marks between groups of three digits, each with the pattern of the characters that are written for it."""

_CURRENCY = (
    r"(?:US|A|C|NZ|HK|S|R)?\$|[€£¥₹₩₽₺₫₴฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|Rs\.?"
)
MARKED = re.compile(
    rf"[+-]?{BLANKS}*(?P<before>{_CURRENCY})?{BLANKS}*[+-]?"
    rf"(?P<number>[0-9.,]+(?:(?:{BLANKS}|['’])[0-9.,]+)*(?:[eE][+-]?[0-9]+)?)"
    rf"{BLANKS}*(?P<after>[^0-9.,+\s-][^0-9]{{0,15}})?"
)
"""A number with marks of any sort, and the text around it; a unit has no digits, and codes such as A1 have no unit."""

BRACKETS = r"^([^()0-9]*)\(([^()]*[0-9][^()]*)\)([^()0-9]*)$"
"""A number in brackets: what is before, in and after them."""
LIMIT = rf"^{BLANKS}*(?:[<>]=?|[≤≥]){BLANKS}*"
"""The mark of a limit of measurement."""

_LARGE = 2**62
"""Differences of smaller whole numbers fit into 64 bits."""


def unit_of(text: str) -> str:
    """The unit of a number; empty if there is none, or no number.

    Examples
    --------
    >>> unit_of("12.3 kg"), unit_of("€ 5000.00"), unit_of("1,966"), unit_of("A1")
    ('kg', '€', '', '')
    """
    match = MARKED.fullmatch(text)
    if match is None:
        return ""
    return match["before"] or (match["after"] or "").rstrip()


def are_codes(texts: Iterable[str]) -> bool:
    """Whether texts are codes with their meaning, such as ``0_no`` and ``1_yes``: every unit has one number only.

    Examples
    --------
    >>> are_codes(["0_no", "1_yes"]), are_codes(["5 kg", "7 kg", "3 lb"]), are_codes(["5 kg", "7 kg"])
    (True, False, False)
    """
    number_of_unit: dict[str, str] = {}
    for text in texts:
        if is_missing(text) or is_gap(text):
            continue
        match = MARKED.fullmatch(text)
        if match is None:
            return False
        known = number_of_unit.setdefault(unit_of(text), match["number"])
        if known != match["number"]:
            return False
    return len(number_of_unit) > 1 and "" not in number_of_unit


class NumberForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """How numbers are written, and the integer offset that is subtracted before they are rounded to a float.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : {"", ",", ".", " ", "'"}
        The mark that may stand between groups of three digits; a blank is any blank, an apostrophe any apostrophe.
    before, after : str
        Text around every number: a currency, a unit, a per cent sign.
    duration : bool
        Cells such as ``01:30:00`` or ``1 h 30 min``, read as seconds.
    offset : int
        Subtracted exactly, so that whole numbers above 2^53 keep their differences.
    brackets : bool
        Whether a number in brackets is negative, as accountants write it: ``(990.11)``.
    limits : bool
        Whether ``<0.5`` and ``>100`` are read as the numbers 0.5 and 100, limits of measurement.

    Examples
    --------
    >>> NumberForm(thousands=",", before="$").read("-$1,966.50")
    -1966.5
    >>> NumberForm(decimal=",", thousands=".", after="kg").read("1.234,5 kg")
    1234.5
    >>> NumberForm(offset=2**60).read(str(2**60 + 1)), NumberForm().read("many"), NumberForm().read("?")
    (1.0, None, nan)
    >>> NumberForm(before="$", brackets=True).read("($990.11)"), NumberForm(limits=True).read("< 0.5")
    (-990.11, 0.5)
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    duration: bool = False
    offset: int = 0
    brackets: bool = False
    limits: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in (".", ",") or self.thousands not in THOUSANDS or self.decimal == self.thousands:
            raise ValueError("numbers need a decimal mark, and another one for thousands")

    @property
    def plain(self) -> bool:
        """Whether numbers are written as in most programming languages."""
        marked = self.thousands or self.before or self.after or self.duration or self.brackets or self.limits
        return self.decimal == "." and not marked

    @property
    def example(self) -> str:
        """A number as it is written.

        Examples
        --------
        >>> NumberForm(thousands=",", before="$").example, NumberForm(",", after="kg").example, NumberForm().example
        ('$1,234.5', '1234,5 kg', '1234.5')
        """
        if self.duration:
            return "1:30:00"
        number = f"1{self.thousands}234{self.decimal}5"
        if self.after.isalpha():
            return f"{self.before}{number} {self.after}"
        return f"{self.before}{number}{self.after}"

    def bare(self, text: str) -> str:
        """A text without the marks of a limit, and with a sign for brackets, if numbers may have these.

        Examples
        --------
        >>> NumberForm(brackets=True).bare("$(5)"), NumberForm(limits=True).bare("<= 5"), NumberForm().bare("(5)")
        ('-$5', '5', '(5)')
        """
        for mark, replacement in self._replacements:
            text = re.sub(mark, replacement.replace("$", "\\"), text)
        return text

    @cached_property
    def _replacements(self) -> list[tuple[str, str]]:
        """What `bare` replaces: patterns that Python and Polars understand alike, and groups as Polars writes them."""
        replacements = []
        if self.limits:
            replacements.append((LIMIT, ""))
        if self.brackets:
            replacements.append((BRACKETS, "-$1$2$3"))
        return replacements

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a `bare` cell, the same for Python and Polars: groups are sign, sign and number.

        The sign may stand on either side of a currency: ``-$5`` and ``$-5``.
        """
        mark = re.escape(self.decimal)
        group = THOUSANDS[self.thousands]
        whole = "[0-9]+"
        if group:
            whole = f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)"
        number = f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        before = _escaped(self.before)
        after = _escaped(self.after)
        return f"^{BLANKS}*([+-]?){BLANKS}*{before}{BLANKS}*([+-]?)({number}){BLANKS}*{after}{BLANKS}*$"

    def read(self, value: Any) -> float | None:
        """The number in a cell; NaN if it is missing, None if it is something else."""
        if isinstance(value, str) and not self.plain:
            text = self.plain_text(value)
            if text is None:
                return _missing_or_none(value)
            value = text
        number = to_number(value)
        if not self.offset or number is None or not np.isfinite(number):
            return number
        return float(Fraction(value) - self.offset)

    def plain_text(self, value: str) -> str | None:
        """The number as most programming languages write it; None if there is none."""
        if self.plain:
            return value
        if self.duration:
            return seconds(value)
        match = re.fullmatch(self.pattern, self.bare(value.strip()))
        if match is None:
            return None
        outer_sign, inner_sign, number = match.groups()
        if outer_sign and inner_sign:
            return None
        if self.thousands:
            number = re.sub(THOUSANDS[self.thousands], "", number)
        return outer_sign + inner_sign + number.replace(self.decimal, ".")

    def read_regular(self, series: "polars.Series") -> "polars.Series":
        """`read` of the cells that Polars can read at once; null for missing and irregular cells."""
        import polars as pl

        if self.duration or (self.offset and not self.plain):
            return _nulls(series)
        if not self.plain:
            series = self._plain_series(series)
        if not self.offset:
            return series.cast(pl.Float64, strict=False)
        whole = series.cast(pl.Int64, strict=False)
        if abs(self.offset) >= _LARGE or len(whole) == whole.null_count():
            return _nulls(series)
        exact = whole.is_between(-_LARGE, _LARGE)
        return (whole - self.offset).cast(pl.Float64).set(~exact, None)

    def _plain_series(self, series: "polars.Series") -> "polars.Series":
        """`plain_text` of every cell; with two signs it is no number either."""
        for mark, replacement in self._replacements:
            series = series.str.replace(mark, replacement)
        outer_sign = series.str.extract(self.pattern, 1)
        inner_sign = series.str.extract(self.pattern, 2)
        number = series.str.extract(self.pattern, 3)
        if self.thousands:
            number = number.str.replace_all(THOUSANDS[self.thousands], "")
        return outer_sign + inner_sign + number.str.replace(self.decimal, ".", literal=True)


PLAIN = NumberForm()


def _missing_or_none(value: Any) -> float | None:
    """NaN for a cell that is missing among numbers, None for any other."""
    if is_missing(value) or is_gap(value):
        return np.nan
    return None


def _nulls(series: "polars.Series") -> "polars.Series":
    import polars as pl

    return pl.repeat(None, len(series), dtype=pl.Float64, eager=True)


def _escaped(text: str) -> str:
    """A pattern for a text, which Python and Polars understand alike."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
