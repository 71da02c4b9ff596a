"""Detect columns that say which rows belong together, such as the number of a patient with several visits."""

import re
from math import sqrt

from abnet.tables.cells import BLANK, to_number
from abnet.tables.column_cells import Cells
from abnet.tables.identifiers import NEARLY_ALL, name_words
from abnet.tables.notes import Note

__all__ = ["fewest_identifiers", "shared_identifier"]

_FEWEST = 10
"""With fewer different values, even a column called patient_id is a category."""
_FEWEST_ROWS = 20
"""With fewer rows, a column is kept, whatever it is called."""

_ID = re.compile("ids?|pid|[ug]uid|uid|identifier")
_NUMBER = re.compile(f"{_ID.pattern}|no|nr|num|number|key|code")
_ALONE = "account|animal|applicant|borrower|client|customer|individual|participant|patient|person|proband|respondent|"
_ALONE += "student|subject|user|volunteer"
_WHO = f"{_ALONE}|acct|case|child|cust|donor|driver|employee|family|household|member|mother|mouse|pat|player|pupil|rat|"
_WHO += "subj|worker"
_PEOPLE = re.compile(f"(?:{_WHO})(?:{_NUMBER.pattern})|(?:{_ID.pattern})(?:{_WHO})|{_ID.pattern}")


def fewest_identifiers(name: str, n_rows: int, *, whole: bool) -> float:
    """The number of different values above which a column holds identifiers that rows share; infinite for most names.

    Identifiers of people, and columns called id, are recognised even if every value has many rows. Other identifiers,
    such as those of shops or products, may be categories, with the same values in new rows, unless there are many.

    Parameters
    ----------
    name : str
        Of the column.
    n_rows : int
    whole : bool
        Whether all values are whole numbers. Then a column called subject contains people; texts may be topics.

    Examples
    --------
    >>> [fewest_identifiers(name, 900, whole=True) for name in ("patient_id", "Subject", "StoreID", "customer_type")]
    [10.0, 10.0, 30.0, inf]
    >>> fewest_identifiers("Subject", 900, whole=False)
    30.0
    """
    words = name_words(name)
    joined = "".join(words)
    names_person = re.fullmatch(_ALONE, joined) is not None
    identifies_person = re.fullmatch(_PEOPLE, joined) or re.fullmatch(_PEOPLE, "".join(words[-2:]))
    if identifies_person or (names_person and whole):
        return float(_FEWEST)
    if names_person or (words and re.fullmatch(_ID, words[-1])):
        return max(float(_FEWEST), sqrt(n_rows))
    return float("inf")


def shared_identifier(name: str, cells: Cells) -> Note | None:
    """A note on a column with an identifier-like name whose values are shared by several rows.

    If nearly all values differ, they identify rows (`abnet.tables.identifiers`).

    Examples
    --------
    >>> from abnet.tables.table import cells_of
    >>> note = shared_identifier("patient_id", cells_of([visit // 3 for visit in range(90)]))
    >>> note.rows, note.facts
    (90, {'values': 30})
    >>> shared_identifier("rooms", cells_of([visit // 3 for visit in range(90)])) is None
    True
    """
    if fewest_identifiers(name, 0, whole=True) == float("inf"):
        return None  # most columns, before their cells are counted
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    n_rows = sum(counts.values())
    numbers = [number for text in counts if (number := to_number(text)) is not None]
    are_numbers = len(numbers) == len(counts)
    if are_numbers and any(number % 1 for number in numbers):
        return None  # measurements
    fewest = fewest_identifiers(name, n_rows, whole=are_numbers)
    if n_rows < _FEWEST_ROWS or not fewest <= len(counts) < NEARLY_ALL * n_rows:
        return None
    return Note("shared identifier", (name,), n_rows, facts={"values": len(counts)})
