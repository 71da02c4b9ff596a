"""How the numbers of a column are written: decimal mark, thousands, unit, duration."""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.data.tables.cells import is_gap, is_missing, to_number
from abnet.data.tables.durations import seconds

if TYPE_CHECKING:
    import polars

__all__ = ["BLANKS", "PLAIN", "THOUSANDS", "NumberForm"]

BLANKS = "[ \t\u00a0\u2009\u202f]"
"""Blanks inside a number, or between it and its unit, as a class of characters."""

THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": BLANKS, "'": "['’]"}
"""Marks between groups of three digits, each with the pattern of the characters that are written for it."""

_LARGE = 2**62  # differences of smaller whole numbers fit into 64 bits


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written, and the whole number that is taken away from each before it is rounded to a float.

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

    Examples
    --------
    >>> NumberForm(thousands=",", before="$").read("-$1,966.50")
    -1966.5
    >>> NumberForm(decimal=",", thousands=".", after="kg").read("1.234,5 kg")
    1234.5
    >>> NumberForm(offset=2**60).read(str(2**60 + 1)), NumberForm().read("many"), NumberForm().read("?")
    (1.0, None, nan)
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    duration: bool = False
    offset: int = 0

    @property
    def plain(self) -> bool:
        """Whether numbers are written as in most programming languages."""
        return self.decimal == "." and not (self.thousands or self.before or self.after or self.duration)

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a whole cell, the same for Python and Polars: groups are sign, sign and number."""
        mark, group = re.escape(self.decimal), THOUSANDS[self.thousands]
        whole = f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)" if group else "[0-9]+"
        number = f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        before, after = (_literal(unit) for unit in (self.before, self.after))
        return f"^{BLANKS}*([+-]?){BLANKS}*{before}{BLANKS}*([+-]?)({number}){BLANKS}*{after}{BLANKS}*$"

    def read(self, value: Any) -> float | None:
        """The number in a cell, NaN where it is missing, None where it is something else."""
        if isinstance(value, str) and not self.plain:
            text = self.plain_text(value)
            if text is None:
                return np.nan if is_missing(value) or is_gap(value) else None
            value = text
        x = to_number(value)
        if not self.offset or x is None or not np.isfinite(x):
            return x
        return float(Fraction(value) - self.offset)

    def plain_text(self, value: str) -> str | None:
        """The number as most programming languages write it, None where there is none."""
        if self.plain:
            return value
        if self.duration:
            return seconds(value)
        match = re.fullmatch(self.pattern, value.strip())
        if match is None or (match[1] and match[2]):
            return None
        digits = re.sub(THOUSANDS[self.thousands], "", match[3]) if self.thousands else match[3]
        return match[1] + match[2] + digits.replace(self.decimal, ".")

    def fast(self, series: "polars.Series") -> "polars.Series":
        """`read` of every cell of a column of text, null where it takes a closer look: at missing and strange cells."""
        import polars as pl

        if self.duration or (self.offset and not self.plain):
            return pl.repeat(None, len(series), dtype=pl.Float64, eager=True)
        if not self.plain:
            parts = [series.str.extract(self.pattern, group) for group in (1, 2, 3)]
            digits = parts[2].str.replace_all(THOUSANDS[self.thousands], "") if self.thousands else parts[2]
            series = parts[0] + parts[1] + digits.str.replace(self.decimal, ".", literal=True)
        if not self.offset:
            return series.cast(pl.Float64, strict=False)
        whole = series.cast(pl.Int64, strict=False)
        if abs(self.offset) >= _LARGE or len(whole) == whole.null_count():
            return pl.repeat(None, len(series), dtype=pl.Float64, eager=True)
        known = whole.is_between(-_LARGE, _LARGE)
        return (whole - self.offset).cast(pl.Float64).set(~known, None)


PLAIN = NumberForm()


def _literal(text: str) -> str:
    """A pattern for a text, which Python and Polars understand alike."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
