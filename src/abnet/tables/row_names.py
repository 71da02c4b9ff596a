"""Detect row numbers and identifiers: in a sorted table they predict the labels, but not for new rows."""

import re

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEARLY_ALL", "is_row_name", "name_words", "names_rows"]

NEARLY_ALL = 0.95
"""Share of the values that differ where they name the rows."""
_ROOM = 12  # times the number of rows, for numbers that count the rows of a table of which a part is given
_NEVER = 7  # chance may keep them apart with probability e^-7 at the most
_STEPS = 1000  # numbers looked at before all are
_ENOUGH = 20  # numbers below which a name says nothing
_DIGITS = 5  # of numbers that may be drawn to name rows, at the least
_EVEN = 60  # numbers from which on their first digits are judged
_UNEVEN = 20.09  # chi-square of nine digits: exceeded by one in a hundred columns of even digits

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LAST = re.compile("ids?|[ug]uid|uid|identifier|no|nr|num|number|key|code|serial")
_WHOLE = re.compile("idx|index|rows?|row(?:id|names?|num|number|index)")
_HOLDER = "account|applicant|case|claim|client|customer|device|employee|invoice|item|loan|member|order|patient|person|"
_HOLDER += "policy|product|record|sample|session|student|subject|ticket|transaction|user"
_JOINED = re.compile(f"(?:{_HOLDER})(?:{_LAST.pattern}|{_WHOLE.pattern})")


def name_words(name: str) -> list[str]:
    """The words of a column's name, in lower case.

    Examples
    --------
    >>> name_words("CustomerID"), name_words("cust_no. 2")
    (['customer', 'id'], ['cust', 'no', '2'])
    """
    return [word.lower() for word in _WORDS.findall(name)]


def is_row_name(name: str) -> bool:
    """Whether a column is called as names and numbers of rows are.

    Examples
    --------
    >>> [is_row_name(name) for name in ("customer_id", "CustomerID", "userid", "rownames", "Policy No.", "ID card")]
    [True, True, True, True, True, True]
    >>> [is_row_name(name) for name in ("amount_paid", "number of rooms", "body mass index", "fnlwgt", "population")]
    [False, False, False, False, False]
    """
    words = name_words(name)
    if not words:
        return False
    joined = "".join(words)
    return words[0] == "id" or any(map(re.fullmatch, (_LAST, _WHOLE, _JOINED), (words[-1], joined, joined)))


def names_rows(name: str, x: NDArray[np.float64]) -> tuple[str, str]:
    """Why numbers (NaN where missing) are left out as names of rows, and why others may be some; often empty.

    n draws from R values are all different with probability about ``exp(-n² / 2R)``, and repeat k times or less, where
    r are expected, with ``exp(-(r - k + k ln(k / r)))`` at the most. A part of the rows of a table has a part of the
    numbers 1, 2, 3, …, so that the range may be some times the number of rows. With repeats, gaps, or steps of ten or
    a hundred they may also be something else, and only the name of the column tells. Numbers of one length whose first
    digits are all as frequent were drawn: what is measured begins with a small digit more often.

    Parameters
    ----------
    name : str
        Of the column.
    x : array (n,)

    Examples
    --------
    >>> names_rows("x", np.arange(100.0))[0]
    'whole numbers that never repeat, as if they counted the rows'
    >>> names_rows("customer_id", np.arange(100.0) ** 3)[0]
    'whole numbers that never repeat, and a name such as id'
    >>> names_rows("income", np.arange(100.0) ** 3)
    ('', '')
    """
    some = x[:_STEPS]
    some = some[~np.isnan(some)]
    if np.any(some != np.rint(some)) or 2 * len(np.unique(some)) < len(some):
        return "", ""  # most columns are spared the work
    known = x[~np.isnan(x)]
    steps = known - known.min()
    if steps.max() >= 2**53 or np.any(steps != np.rint(steps)):
        return "", ""
    n, k = len(known), len(known) - len(np.unique(steps))
    if k > (1 - NEARLY_ALL) * n:
        return "", ""
    repeat = f"whole numbers that {'hardly ever' if k else 'never'} repeat"
    if n >= _ENOUGH and is_row_name(name):
        return f"{repeat}, and a name such as id", ""
    room = float(steps.max()) / max(int(np.gcd.reduce(steps.astype(np.int64))), 1) + 1
    near, planned, drawn = room <= _ROOM * n, _no_chance(n, k, room), not k and _drawn(known)
    if planned and not k and len(x) == n and (float(steps.max()) + 1 <= _ROOM * n or drawn):
        return f"{repeat}, as if they counted the rows", ""
    if drawn or (planned and (near or not k)):
        return "", f"{repeat}, as if they counted the rows"
    return "", ""


def _no_chance(n: int, k: int, room: float) -> bool:
    """Whether so many draws from so many values hardly repeat k times only."""
    if n * n < 2 * _NEVER * room:
        return False
    r = n - room * -np.expm1(-n / room)
    return not k or (k <= r and r - k + k * np.log(k / r) >= _NEVER)


def _drawn(known: NDArray[np.float64]) -> bool:
    """Whether numbers have one length, and begin with every digit as often."""
    low, high = known.min(), known.max()
    length = len(str(int(high)))
    if len(known) < _EVEN or length < _DIGITS or low < 10.0 ** (length - 1):
        return False
    counts = np.bincount((known // 10.0 ** (length - 1)).astype(np.intp), minlength=10)[1:]
    even = len(known) / 9
    return bool(((counts - even) ** 2).sum() <= _UNEVEN * even)
