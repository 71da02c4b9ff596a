"""Detect columns that say which rows belong together, such as the number of a patient with several visits."""

import re
from math import sqrt

from abnet.tables.cells import BLANK, to_number
from abnet.tables.column_cells import Cells
from abnet.tables.identifiers import NEARLY_ALL, name_words
from abnet.tables.notes import Note

__all__ = ["least_ids", "shared_id"]

_FEWEST = 10  # different values below which even a column called patient_id is a category
_ENOUGH = 20  # rows below which a name says nothing

_ID = re.compile("ids?|pid|[ug]uid|uid|identifier")
_NUMBER = re.compile(f"{_ID.pattern}|no|nr|num|number|key|code")
_ALONE = "account|animal|applicant|borrower|client|customer|individual|participant|patient|person|proband|respondent|"
_ALONE += "student|subject|user|volunteer"
_WHO = f"{_ALONE}|acct|case|child|cust|donor|driver|employee|family|household|member|mother|mouse|pat|player|pupil|rat|"
_WHO += "subj|worker"
_PEOPLE = re.compile(f"(?:{_WHO})(?:{_NUMBER.pattern})|(?:{_ID.pattern})(?:{_WHO})|{_ID.pattern}")


def least_ids(name: str, n_rows: int, *, whole: bool) -> float:
    """The number of different values from which on a column holds identifiers that rows share; infinite for most names.

    People, and what a column called id names, are recognised even if every one has many rows. What else has an id, such
    as a shop or a product, may be a category of which new rows hold the same values: its values have to be many.

    Parameters
    ----------
    name : str
        Of the column.
    n_rows : int
    whole : bool
        Whether all values are whole numbers. A column called subject is then a list of people; texts may be topics.

    Examples
    --------
    >>> [least_ids(name, 900, whole=True) for name in ("patient_id", "Subject", "StoreID", "customer_type")]
    [10.0, 10.0, 30.0, inf]
    >>> least_ids("Subject", 900, whole=False)
    30.0
    """
    words = name_words(name)
    joined = "".join(words)
    alone = re.fullmatch(_ALONE, joined) is not None
    if re.fullmatch(_PEOPLE, joined) or re.fullmatch(_PEOPLE, "".join(words[-2:])) or (alone and whole):
        return float(_FEWEST)
    if alone or (words and re.fullmatch(_ID, words[-1])):
        return max(float(_FEWEST), sqrt(n_rows))
    return float("inf")


def shared_id(name: str, cells: Cells) -> Note | None:
    """A note on a column whose name is that of identifiers, and whose values rows share.

    Where nearly all values differ, the column names the rows (`abnet.tables.identifiers`).

    Examples
    --------
    >>> from abnet.tables.table import cells_of
    >>> note = shared_id("patient_id", cells_of([visit // 3 for visit in range(90)]))
    >>> note.rows, note.facts
    (90, {'values': 30})
    >>> shared_id("rooms", cells_of([visit // 3 for visit in range(90)])) is None
    True
    """
    if least_ids(name, 0, whole=True) == float("inf"):
        return None  # most columns are spared the work
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total, numbers = sum(counts.values()), [to_number(text) for text in counts]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and any(number % 1 for number in known):
        return None  # measured
    least = least_ids(name, total, whole=len(known) == len(numbers))
    if total < _ENOUGH or not least <= len(counts) < NEARLY_ALL * total:
        return None
    return Note("shared identifier", (name,), total, facts={"values": len(counts)})
