"""The bytes of a text table, from a file or a stream, gzipped or not, in blocks of whole lines."""

import gzip
import io
import zlib
from typing import IO, Any

from abnet.tables.table_errors import TableError

__all__ = ["ByteSource"]

_GZIP = b"\x1f\x8b"
"""The first bytes of gzip; no text in UTF-8 begins with them."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_START = 1 << 16
"""Bytes that show which line ends a table has."""


class ByteSource:
    """The bytes of a table, with the number of lines that have been read.

    Gzip is detected from the first two bytes, a byte-order mark is skipped, and line ends of the old Macintosh (a
    single carriage return) are converted to line feeds.

    Parameters
    ----------
    raw : binary stream
    name : str
        Name of the table in error messages.
    size : int or None
        Total number of bytes, for the progress, if known.

    Attributes
    ----------
    name : str
    lines : int
        Lines read so far; the functions that read rows count them.

    Examples
    --------
    >>> source = ByteSource(io.BytesIO(b"a,b\\r1,2\\r"), "t.csv")
    >>> source.block(1000), source.block(1000)
    (b'a,b\\n1,2\\n', b'')
    """

    def __init__(self, raw: IO[bytes], name: str, size: int | None = None) -> None:
        self.name = name
        self.lines = 0
        self._size = size
        self._raw: Any = raw
        if not isinstance(raw, io.BufferedReader):
            self._raw = io.BufferedReader(raw)
        self._stream = self._raw
        if self._raw.peek(2)[:2] == _GZIP:
            self._stream = gzip.GzipFile(fileobj=self._raw)
        start = self._read(_START)
        if start.endswith(b"\r"):
            start += self._read(1)  # perhaps the line feed that belongs to it
        self._is_macintosh = b"\r" in start and b"\n" not in start
        self._kept = self._with_line_feeds(start.removeprefix(_BYTE_ORDER_MARK))

    def progress(self) -> float:
        """Fraction of the bytes read so far; 0 if their number is not known."""
        if not self._size:
            return 0.0
        return min(self._raw.tell() / self._size, 1.0)

    def block(self, size: int) -> bytes:
        """About `size` bytes that end at the end of a line or of the table; empty at the end."""
        parts: list[bytes | memoryview] = [self._kept]
        while True:
            fresh = self._with_line_feeds(self._read(size))
            end = fresh.rfind(b"\n") + 1
            if end or not fresh:
                break
            parts.append(fresh)
        self._kept = fresh[end:]
        parts.append(memoryview(fresh)[:end])
        return b"".join(parts)

    def give_back(self, rest: bytes) -> None:
        """Put bytes back, to be read again."""
        self._kept = rest + self._kept

    def _with_line_feeds(self, data: bytes) -> bytes:
        if self._is_macintosh:
            return data.replace(b"\r", b"\n")
        return data

    def _read(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{self.name} is not a complete gzip file ({error}); compress the table again.") from error
