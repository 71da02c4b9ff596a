"""Detect row numbers and identifiers: in a sorted table they predict the labels, but not for new rows."""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONG", "NEARLY_ALL", "IdentifierReasons", "identifier_reasons", "is_identifier_name", "name_words"]

NEARLY_ALL = 0.95
"""Share of the values that differ in a column of identifiers."""

LONG = 15
"""Digits of whole numbers that are identifiers if they hardly repeat, whatever the column is called."""

_RANGE = 12
"""Row numbers go up to this many times the number of rows, as in a part of a larger table."""

_SURPRISE = 7
"""Random numbers repeat so rarely with probability e^-7 at most."""

_FIRST_ROWS = 1000
"""Rows that are checked first."""

_FEWEST = 20
"""With fewer numbers, a column is kept, whatever it is called."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LAST_WORD = "ids?|[ug]uid|uid|identifier|no|nr|num|number|key|code|serial"
_WHOLE_NAME = "idx|index|rows?|row(?:id|names?|num|number|index)"
_HOLDER = (
    "account|applicant|case|claim|client|customer|device|employee|invoice|item|loan|member|order|patient|person|"
    "policy|product|record|sample|session|student|subject|ticket|transaction|user"
)
_HOLDER_AND_IDENTIFIER = f"(?:{_HOLDER})(?:{_LAST_WORD}|{_WHOLE_NAME})"
_ABBREVIATION = "(?:p|s|c|hh|subj|pat|part|resp|emp|cust|stud|mem|acc|acct|tran)id|idno|mrn|ssn|seqn|imei|isbn|iban|vin"


def name_words(name: str) -> list[str]:
    """The words of a column's name, in lower case.

    Examples
    --------
    >>> name_words("CustomerID"), name_words("cust_no. 2")
    (['customer', 'id'], ['cust', 'no', '2'])
    """
    return [word.lower() for word in _WORDS.findall(name)]


def is_identifier_name(name: str) -> bool:
    """Whether a column has an identifier-like name.

    Examples
    --------
    >>> names = ("customer_id", "CustomerID", "userid", "rownames", "Policy No.", "ID card", "PID", "id_str", "MRN")
    >>> all(map(is_identifier_name, names))
    True
    >>> names = ("amount_paid", "number of rooms", "body mass index", "fnlwgt", "population", "grid", "rapid")
    >>> any(map(is_identifier_name, names))
    False
    """
    words = name_words(name)
    if not words:
        return False
    joined = "".join(words)
    last = words[-1]
    return (
        words[0] == "id"
        or re.fullmatch(_LAST_WORD, last) is not None
        or re.fullmatch(_ABBREVIATION, last) is not None
        or re.fullmatch(_WHOLE_NAME, joined) is not None
        or re.fullmatch(_HOLDER_AND_IDENTIFIER, joined) is not None
    )


class IdentifierReasons(NamedTuple):
    """Why numbers are identifiers, and why they may be identifiers; empty if they are not."""

    certain: str = ""
    possible: str = ""


def identifier_reasons(name: str, x: NDArray[np.float64], *, long: bool = False) -> IdentifierReasons:
    """Why a column of numbers (NaN where missing) is left out as an identifier, or may be one.

    n draws from R values are all different with probability about ``exp(-n² / 2R)``. They repeat at most k times, if r
    repeats are expected, with probability at most ``exp(-(r - k + k ln(k / r)))``. A part of a table has a part of the
    numbers 1, 2, 3, …, so the range may be larger than the number of rows. Numbers with repeats, gaps, or steps of ten
    or a hundred may also be something else, unless the column has an identifier-like name.

    Parameters
    ----------
    name : str
        Of the column.
    x : array (n,)
    long : bool
        Whether all are written as whole numbers of `LONG` digits or more; these are assigned, not measured.

    Examples
    --------
    >>> identifier_reasons("x", np.arange(100.0)).certain
    'whole numbers that never repeat, as if they counted the rows'
    >>> identifier_reasons("customer_id", np.arange(100.0) ** 3).certain
    'whole numbers that never repeat, and a name such as id'
    >>> identifier_reasons("income", np.arange(100.0) ** 3)
    IdentifierReasons(certain='', possible='')
    """
    nothing = IdentifierReasons()
    if not _may_be_identifiers(x[:_FIRST_ROWS]):
        return nothing
    known = x[~np.isnan(x)]
    offsets = known - known.min()
    n = len(known)
    n_repeats = n - len(np.unique(offsets))
    if n_repeats > (1 - NEARLY_ALL) * n or not _are_whole(offsets):
        return nothing
    repeat = "whole numbers that never repeat"
    if n_repeats:
        repeat = "whole numbers that hardly ever repeat"
    if n >= _FEWEST and is_identifier_name(name):
        return IdentifierReasons(certain=f"{repeat}, and a name such as id")
    if n >= _FEWEST and long:
        return IdentifierReasons(certain=f"{repeat}, of {LONG} digits or more")
    largest = float(offsets.max())
    if largest >= 2**53:
        return nothing
    step = max(int(np.gcd.reduce(offsets.astype(np.int64))), 1)
    n_possible = largest / step + 1
    count_rows = f"{repeat}, as if they counted the rows"
    if not _repeat_too_rarely(n, n_repeats, n_possible):
        return nothing
    if not n_repeats and n == len(x) and largest + 1 <= _RANGE * n:
        return IdentifierReasons(certain=count_rows)
    if not n_repeats or n_possible <= _RANGE * n:
        return IdentifierReasons(possible=count_rows)
    return nothing


def _may_be_identifiers(first: NDArray[np.float64]) -> bool:
    """Whether the first numbers are whole and at least half of them differ; most columns end here."""
    known = first[~np.isnan(first)]
    return _are_whole(known) and 2 * len(np.unique(known)) >= len(known)


def _are_whole(x: NDArray[np.float64]) -> bool:
    return bool(np.all(x == np.rint(x)))


def _repeat_too_rarely(n: int, n_repeats: int, n_possible: float) -> bool:
    """Whether n random draws from so many possible numbers would repeat more often."""
    if n * n < 2 * _SURPRISE * n_possible:
        return False
    if not n_repeats:
        return True
    expected = n - n_possible * -np.expm1(-n / n_possible)
    surprise = expected - n_repeats + n_repeats * np.log(n_repeats / expected)
    return bool(n_repeats <= expected and surprise >= _SURPRISE)
