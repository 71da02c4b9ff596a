"""The grammar of cells: missing, a number (decimal mark, thousands, unit, duration), a boolean or text; errors
that name the place.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

if TYPE_CHECKING:
    import polars

__all__ = [
    "BLANK",
    "BLANKS",
    "BRACKETS",
    "DOUBTFUL",
    "DURATIONS",
    "GAPS",
    "LIMIT",
    "MARKED",
    "MISSING",
    "NumberForm",
    "PLAIN",
    "THOUSANDS",
    "TRUTH",
    "TableError",
    "UnknownColumnError",
    "are_codes",
    "is_blank",
    "is_gap",
    "is_missing",
    "listed",
    "quoted",
    "refuse_repeated",
    "row_name",
    "seconds",
    "to_number",
    "to_text",
    "unit_of",
]


class TableError(ValueError):
    """A table cannot be used; the message says what is wrong, where, and what to do."""


class UnknownColumnError(TableError):
    """The table has no column with this name."""


def row_name(index: Any, position: int) -> str:
    """Name of a row for messages; data rows count from 1, without the header.

    Parameters
    ----------
    index : sequence of labels, or int
        Of a frame of pandas; or the number of rows that came before a frame without labels, such as a batch of a file.
    position : int

    Examples
    --------
    >>> row_name(100, 5), row_name(range(100, 200), 5), row_name(["a", "b"], 1)
    ('data row 106', 'data row 106', "row 'b'")
    """
    if isinstance(index, int):
        return _numbered(index + position)
    label = index[position]
    return _numbered(int(label)) if isinstance(label, (int, np.integer)) else f"row {label!r}"


def _numbered(position: int) -> str:
    return f"data row {position + 1}"


def listed(names: Any, *, most: int = 10) -> str:
    """Quoted names, at most `most` of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(map(quoted, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


_LONGEST = 60


def quoted(value: Any) -> str:
    """The text of a cell in quotes for a message; long texts are shortened.

    Examples
    --------
    >>> quoted(" Oslo "), quoted(3.0), quoted("z" * 200_000)
    ("'Oslo'", "'3'", "'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…' (200,000 characters)")
    """
    text = to_text(value)
    return repr(text) if len(text) <= _LONGEST else f"{text[: _LONGEST // 2] + '…'!r} ({len(text):,} characters)"


def refuse_repeated(names: list[str], where: str = "") -> None:
    """Raise a TableError if a column name occurs twice.

    Examples
    --------
    >>> refuse_repeated(["a", "b", "a"], "t.csv: ")
    Traceback (most recent call last):
    abnet.tables.cells.TableError: t.csv: column names must differ, but 'a' repeats; rename one.
    """
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        wrong = "repeats; rename one" if len(repeated) == 1 else "repeat; rename them"
        raise TableError(f"{where}column names must differ, but {listed(repeated)} {wrong}.")


BLANK = frozenset({"", "nan", "-nan", "null", "<na>", "#n/a", "nat"})
"""Marks of a missing value in every column, in any case of letters."""
DOUBTFUL = frozenset({"na", "n/a", "none", "?", "-", "."})
"""Marks of a missing value among numbers and booleans; among texts they are words like others (NA is Namibia)."""
GAPS = frozenset(
    {"unknown", "missing", "n.a.", "n.a", "n.d.", "n.d", "nd", "n/d", "not available", "not known", "not applicable",
     "unspecified", "undefined", "no data", "nil", "--", "---", "??", "???", "..", "..."}
)  # fmt: skip
"""Words for a missing value among numbers, which a remark tells of."""
MISSING = BLANK | DOUBTFUL
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""Truth values as text, in any case of letters."""


def to_text(value: Any) -> str:
    """The text of a cell: blanks around it dropped, whole numbers without a decimal point, empty for None.

    Examples
    --------
    >>> to_text(" Oslo "), to_text(3.0), to_text(None), to_text(True)
    ('Oslo', '3', '', 'True')
    """
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, (float, np.floating)) and value.is_integer() else str(value)


def is_blank(value: Any) -> bool:
    """Whether a cell of any column is missing: None, or one of the marks `BLANK`."""
    return to_text(value).lower() in BLANK


def is_missing(value: Any) -> bool:
    """Whether a cell among numbers or booleans is missing: one of the marks `BLANK` or `DOUBTFUL`.

    Examples
    --------
    >>> [is_missing(mark) for mark in ("", " NA ", "?", "NaN", "0", "none at all")]
    [True, True, True, True, False, False]
    """
    return to_text(value).lower() in MISSING


def is_gap(value: Any) -> bool:
    """Whether a cell is a word for a missing value that counts as such only in numeric columns."""
    return to_text(value).lower() in GAPS


def to_number(value: Any) -> float | None:
    """The number in a cell; NaN if it is missing, None if it is something else.

    Uses Python's own conversion, which is correctly rounded, but without underscores; a boolean is not a number.

    Examples
    --------
    >>> to_number(" 1e3 "), to_number("?"), to_number("n.a."), to_number("1_000"), to_number("1,5")
    (1000.0, nan, nan, None, None)
    """
    try:
        return (
            None if isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and "_" in value) else float(value)
        )
    except (TypeError, ValueError):
        return np.nan if is_missing(value) or is_gap(value) else None
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf


_CLOCK = re.compile(
    r"\s*([+-]?)(?:([0-9]+) ?d(?:ays?)?,? ?)?([0-9]+):([0-5][0-9])(?::([0-5][0-9](?:[.,][0-9]+)?))?\s*", re.IGNORECASE
)
_PARTS = re.compile(
    r"\s*P?(?:([0-9]+(?:\.[0-9]+)?) ?(?:days?|d),? ?)?T?(?:([0-9]+(?:\.[0-9]+)?) ?(?:hours?|hrs?|h),? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?(?:minutes?|mins?|m),? ?)?(?:([0-9]+(?:\.[0-9]+)?) ?(?:seconds?|secs?|s))?\s*",
    re.IGNORECASE,
)
_UNITS = (86_400, 3_600, 60, 1)
DURATIONS = (_CLOCK.pattern, _PARTS.pattern)
"""Patterns of durations, in letters of any case: a clock, and numbers with units."""


def seconds(text: str) -> str | None:
    """The seconds of a duration, in digits that lose nothing; None for anything else.

    Two numbers such as ``1:30`` are read as hours and minutes. If they are minutes and seconds, all values are 60 times
    too large, which scaling undoes.

    Examples
    --------
    >>> seconds("01:30:00"), seconds("1:30"), seconds("2 days 00:00:01.5"), seconds("1 h 30 min"), seconds("90")
    ('5400', '5400', '172801.5', '5400', None)
    >>> seconds("PT1H30M"), seconds("P2DT0.5S"), seconds("P")
    ('5400', '172800.5', None)
    """
    if clock := _CLOCK.fullmatch(text):
        sign = clock[1]
        numbers: tuple[str, ...] = (clock[2], clock[3], clock[4], (clock[5] or "0").replace(",", "."))
    elif (parts := _PARTS.fullmatch(text)) and any(parts.groups()):
        sign, numbers = "", parts.groups()
    else:
        return None
    total = sum(unit * Fraction(number or 0) for unit, number in zip(_UNITS, numbers, strict=True))
    return sign + (str(total) if total.denominator == 1 else repr(float(total)))


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
"""The mark of a number beyond which nothing was measured."""


def unit_of(text: str) -> str:
    """The unit of a number; empty where there is none, or no number.

    Examples
    --------
    >>> unit_of("12.3 kg"), unit_of("€ 5000.00"), unit_of("1,966"), unit_of("A1")
    ('kg', '€', '', '')
    """
    match = MARKED.fullmatch(text)
    return "" if match is None else match["before"] or (match["after"] or "").rstrip()


def are_codes(texts: Iterable[str]) -> bool:
    """Whether texts are codes with their meaning, such as ``0_no`` and ``1_yes``: every unit has one number only.

    Examples
    --------
    >>> are_codes(["0_no", "1_yes"]), are_codes(["5 kg", "7 kg", "3 lb"]), are_codes(["5 kg", "7 kg"])
    (True, False, False)
    """
    numbers: dict[str, str] = {}
    for text in texts:
        if is_missing(text) or is_gap(text):
            continue
        match = MARKED.fullmatch(text)
        if match is None:
            return False
        if numbers.setdefault(unit_of(text), match["number"]) != match["number"]:
            return False
    return len(numbers) > 1 and "" not in numbers


_LARGE = 2**62  # differences of smaller whole numbers fit into 64 bits


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
        Whether ``<0.5`` and ``>100`` are read as the numbers 0.5 and 100, beyond which nothing was measured.

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
        after = f" {self.after}" if self.after.isalpha() else self.after
        return "1:30:00" if self.duration else f"{self.before}1{self.thousands}234{self.decimal}5{after}"

    def bare(self, text: str) -> str:
        """A text without the marks of a limit, and with a sign for brackets, if numbers may have these.

        Examples
        --------
        >>> NumberForm(brackets=True).bare("$(5)"), NumberForm(limits=True).bare("<= 5"), NumberForm().bare("(5)")
        ('-$5', '5', '(5)')
        """
        for mark, instead in self._rewritten:
            text = re.sub(mark, instead.replace("$", "\\"), text)
        return text

    @cached_property
    def _rewritten(self) -> tuple[tuple[str, str], ...]:
        """Patterns, the same for Python and Polars, and what is written for them."""
        brackets = ((BRACKETS, "-$1$2$3"),) if self.brackets else ()
        limits = ((LIMIT, ""),) if self.limits else ()
        return limits + brackets

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a `bare` cell, the same for Python and Polars: groups are sign, sign and number."""
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
        match = re.fullmatch(self.pattern, self.bare(value.strip()))
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
            for mark, instead in self._rewritten:
                series = series.str.replace(mark, instead)
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
