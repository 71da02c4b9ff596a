"""CSV by the block, with Polars, where a block is so regular that every reader would read it alike."""

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

__all__ = ["regular_frame"]

_QUOTE, _NEWLINE, _BLANK = b'"\n '


def regular_frame(block: bytes, names: list[str], separator: str, *, blanks: bool) -> "polars.DataFrame | None":
    """A frame of text from whole lines; None if anything is not plain: `csv_rows` then takes a closer look.

    Plain is a block of valid UTF-8 whose rows all have as many cells as there are names, whose quotes open right where
    a cell begins and close right where it ends, and whose lines end alike.

    Parameters
    ----------
    block : bytes
    names : list of str
    separator : str
    blanks : bool
        Whether blanks after a separator belong to the cell.

    Examples
    --------
    >>> regular_frame(b'1,2\\n"x, y",\\n', ["a", "b"], ",", blanks=False).rows()
    [('1', '2'), ('x, y', '')]
    >>> regular_frame(b"1,2\\n3\\n", ["a", "b"], ",", blanks=False) is None
    True
    """
    import polars as pl

    quoted = b'"' in block
    data = _plain_lines(block, quoted)
    if data is None or data.startswith(b"\xef\xbb\xbf") or not _is_text(data):
        return None
    schema = dict.fromkeys(names, pl.String)
    if not data:
        return pl.DataFrame(schema=schema)
    mark, rows = separator.encode(), data.count(b"\n")
    strip = not blanks and not quoted and (mark + b" " in data or b"\n " in data or data.startswith(b" "))
    if quoted:
        found = _quoted_rows(np.frombuffer(data, np.uint8), ord(separator), len(names), blanks)
        if found is None:
            return None
        rows = found
    elif data.count(mark) != (len(names) - 1) * rows:
        return None
    try:
        # More cells than names are an error of Polars, fewer are filled up: as the sum is right, none has fewer.
        frame = pl.read_csv(
            data, has_header=False, schema=schema, separator=separator, quote_char='"' if quoted else None
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    frame = frame.with_columns(column.fill_null("") for column in frame.get_columns() if column.null_count())
    return frame.with_columns(pl.all().str.strip_chars_start(" ")) if strip else frame


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain_lines(block: bytes, quoted: bool) -> bytes | None:
    """Lines with plain ends, none of them blank; None if that may change a quoted cell, or a return stands alone."""
    data = block if block.endswith(b"\n") or not block else block + b"\n"
    if quoted and (b"\r" in data or b"\n\n" in data or data.startswith(b"\n")) and _newline_in_quotes(data):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:
            return None
    if b"\n\n" in data or data.startswith(b"\n"):
        data = re.sub(rb"\n{2,}", b"\n", data).removeprefix(b"\n")
    return data


def _inside(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes stand after an odd number of quotes."""
    return np.bitwise_xor.accumulate((data == _QUOTE).view(np.uint8)).view(np.bool_)


def _newline_in_quotes(data: bytes) -> bool:
    array = np.frombuffer(data, np.uint8)
    return bool((_inside(array) & ((array == _NEWLINE) | (array == ord("\r")))).any())


def _quoted_rows(data: NDArray[np.uint8], separator: int, width: int, blanks: bool) -> int | None:
    """The number of rows; None if not all have `width` cells, or a quote does not stand where a cell begins or ends."""
    inside, ends = _inside(data), (data == separator) | (data == _NEWLINE)
    if inside[-1]:
        return None
    outer = np.flatnonzero(ends & ~inside)
    if len(outer) % width:
        return None
    kinds = data[outer].reshape(-1, width)
    if not ((kinds[:, -1] == _NEWLINE).all() and (kinds[:, :-1] == separator).all()):
        return None
    if not blanks and (data[0] == _BLANK or (data[outer[:-1] + 1] == _BLANK).any()):
        return None
    quotes = data == _QUOTE
    places = np.flatnonzero(quotes)
    opening, closing = places[0::2], places[1::2]  # the byte "before" the first one is the last, a line end
    begins, ends_there = (ends | quotes)[opening - 1], (ends | quotes)[closing + 1]
    return len(kinds) if bool(begins.all() and ends_there.all()) else None
