"""Bytes of a text table, from a file or a stream, gzipped or not, in blocks of whole lines."""

import gzip
import io
import zlib
from typing import IO, Any

from abnet.data.tables.error import TableError

__all__ = ["ByteSource"]

_START = 1 << 16


class ByteSource:
    """Bytes of a table, with the number of lines that have been read for good.

    Whether they are gzipped is seen from the first two; a byte-order mark is passed over, and line ends of the old
    Macintosh (a return alone) become those of everybody else.

    Parameters
    ----------
    raw : binary stream
    name : str
        For errors.
    size : int or None
        Bytes in all, for the progress, if known.

    Examples
    --------
    >>> source = ByteSource(io.BytesIO(b"a,b\\r1,2\\r"), "t.csv")
    >>> source.block(1000), source.block(1000)
    (b'a,b\\n1,2\\n', b'')
    """

    def __init__(self, raw: IO[bytes], name: str, size: int | None = None) -> None:
        self.name, self.lines, self._size = name, 0, size
        self._raw: Any = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
        zipped = self._raw.peek(2)[:2] == b"\x1f\x8b"  # which no text in UTF-8 begins with
        self._stream = gzip.GzipFile(fileobj=self._raw) if zipped else self._raw
        start = self._read(_START)
        if start.endswith(b"\r"):
            start += self._read(1)
        self._returns_only = b"\r" in start and b"\n" not in start
        self._kept = self._ended(start.removeprefix(b"\xef\xbb\xbf"))

    def progress(self) -> float:
        """Share of the bytes read so far."""
        return min(self._raw.tell() / self._size, 1.0) if self._size else 0.0

    def block(self, size: int) -> bytes:
        """Some `size` bytes that end where a line does, or where the table does; empty at the end of all."""
        parts = [self._kept]
        while True:
            fresh = self._ended(self._read(size))
            end = fresh.rfind(b"\n") + 1
            if end or not fresh:
                break
            parts.append(fresh)
        self._kept = fresh[end:]
        return b"".join([*parts, fresh[:end]])

    def give_back(self, rest: bytes) -> None:
        """Take bytes back, to be given out again."""
        self._kept = rest + self._kept

    def _ended(self, data: bytes) -> bytes:
        return data.replace(b"\r", b"\n") if self._returns_only else data

    def _read(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{self.name} is not a whole gzip file ({error}); compress the table again.") from error
