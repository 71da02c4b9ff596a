"""Results on stdout: for people as text and tables, for machines as JSON."""

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["as_json", "count", "kilobytes", "paragraph", "rows"]

_WIDTH = 100


def as_json(record: dict[str, Any]) -> None:
    """A record as indented JSON; what is not finite would not be JSON, and is an error."""
    print(json.dumps(record, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy numbers and paths as plain values."""
    return value.item() if hasattr(value, "item") else str(value)


def paragraph(text: str) -> None:
    """Text filled to the width of a page, then an empty line."""
    import textwrap

    print(textwrap.fill(text, _WIDTH), end="\n\n")


def rows(header: Sequence[str], body: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table; the first `left` columns flush left, the others flush right.

    Examples
    --------
    >>> rows(["model", "error"], [["a tree", "3 %"], ["a net", "12 %"]])
    model   error
    a tree    3 %
    a net    12 %
    """
    widths = [max(len(line[i]) for line in (header, *body)) for i in range(len(header))]
    for line in (header, *body):
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def count(number: int, thing: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def kilobytes(size: int) -> str:
    """A size as people read it.

    Examples
    --------
    >>> kilobytes(900), kilobytes(20_480), kilobytes(5_000_000)
    ('0.9 kB', '20 kB', '5,000 kB')
    """
    return f"{size / 1000:,.1f} kB" if size < 10_000 else f"{size / 1000:,.0f} kB"
