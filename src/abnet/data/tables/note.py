"""What a user should know about the way a column was read."""

from typing import NamedTuple

__all__ = ["Note"]


class Note(NamedTuple):
    """A remark on a column, as a value: `text` goes on where the column's name ends.

    Examples
    --------
    >>> print(Note("price", "has numbers such as '1 966', read as 1966"))
    column 'price' has numbers such as '1 966', read as 1966
    """

    column: str
    text: str

    def __str__(self) -> str:
        """One line for a person."""
        return f"column {self.column!r} {self.text}"
