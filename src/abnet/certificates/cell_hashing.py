"""64 bits of each cell of a column, the same in every container, process, machine and version of a library.

Numbers are represented by their value in float64 (integers exactly), so numbers that differ have different bits. An
array of decimals and its copy in float32 are different. Text is hashed by its UTF-8 bytes, or by its value if it is a
number, as in a CSV file. None, NaN, null and empty text have the same bits. Dates and times count in microseconds.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STEP", "Hashes", "cell_bits", "mixed", "number_bits"]

Hashes = NDArray[np.uint64]
"""Hashes, or bits to be hashed, of 64 bits each."""
STEP = np.uint64(0x9E3779B97F4A7C15)
"""The step of the splitmix64 generator: 2^64 divided by the golden ratio, an odd number."""

_TEXT_ROWS = 2**17  # texts joined at a time
_LONG = 256  # texts of at least this many bytes are hashed one by one
_WORD = 8  # bytes of a text that are hashed at a time
_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]+)?$"
_MISSING = np.uint64(0x7FF8000000000000)  # the bits of NaN
_FIRST_INEXACT = 2.0**53  # from here on, float64 does not represent every integer


def mixed(x: Hashes) -> Hashes:
    """Mix the bits of each number (the last steps of splitmix64), in place.

    The map is one to one, so different numbers stay different.
    """
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def cell_bits(column: Any) -> Hashes:
    """64 bits of every cell of a column, not mixed yet: of numbers, those of float64.

    Parameters
    ----------
    column : array, or series of pandas or Polars (n,)

    Examples
    --------
    >>> np.array_equal(cell_bits(np.array(["1.50", "", "no"])), cell_bits(np.array([1.5, None, "no"], object)))
    True
    """
    if type(column).__module__.partition(".")[0] == "polars":
        return _polars_bits(column)
    dtype = str(getattr(column, "dtype", ""))
    if hasattr(column, "to_numpy") and dtype.startswith(("Int", "UInt", "Float", "boolean")):
        column = column.to_numpy(dtype=np.float64, na_value=np.nan)  # a type of pandas with missing values
    values = np.asarray(column)
    if values.dtype.kind == "M":
        times = values.astype("datetime64[us]")
        return np.where(np.isnat(times), _MISSING, number_bits(times.astype(np.int64)))
    if values.dtype.kind in "biuf":
        return number_bits(values)
    return _object_bits(values.tolist())


def number_bits(values: NDArray[Any]) -> Hashes:
    """Bits of numbers as float64; integers from 2^53 on have bits of their own."""
    numbers = values.astype(np.float64)
    numbers += 0.0  # no negative zeros
    bits = numbers.view(np.uint64)
    if values.dtype.kind == "f":
        bits[np.isnan(numbers)] = _MISSING
    elif values.dtype.itemsize == 8:
        large = np.abs(numbers) >= _FIRST_INEXACT
        bits[large] = values[large].astype(np.uint64)
    return bits


def _polars_bits(column: Any) -> Hashes:
    import polars as pl

    kind = column.dtype
    if kind == pl.String:
        return _text_bits(column)
    if kind in (pl.Categorical, pl.Enum):
        return _text_bits(column.cast(pl.String))
    if kind in (pl.Date, pl.Datetime):
        column = column.cast(pl.Datetime("us")).to_physical()
    elif kind.is_temporal():
        column = column.to_physical()
    elif not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        return _object_bits(column.to_list())
    if column.null_count() or kind.is_decimal():
        bits = number_bits(column.cast(pl.Float64).to_numpy())
        return np.where(column.is_null().to_numpy(), _MISSING, bits)
    return number_bits(column.to_numpy())


def _object_bits(values: list[Any]) -> Hashes:
    """Bits of cells of any kind: of a column of text, or of cells that are text and numbers."""
    import polars as pl

    try:
        return _text_bits(pl.Series(values, dtype=pl.String, strict=True))
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        pass
    plain = [_text_or_number(value) for value in values]
    texts = [value for value in plain if isinstance(value, str)]
    numbers = [value for value in plain if not isinstance(value, str)]
    is_text = np.array([isinstance(value, str) for value in plain], np.bool_)
    bits = np.empty(len(plain), np.uint64)
    bits[is_text] = _text_bits(pl.Series(texts, dtype=pl.String))
    bits[~is_text] = number_bits(np.array(numbers, np.float64))
    return bits


def _text_or_number(value: Any) -> str | float:
    """A cell as a text or as a number; NaN if it is missing."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)


def _text_bits(column: Any) -> Hashes:
    """Bits of the texts of a Polars series; a text that represents a number has the bits of the number."""
    bits = np.empty(len(column), np.uint64)
    for start in range(0, len(column), _TEXT_ROWS):
        block = column.slice(start, _TEXT_ROWS)
        out = bits[start : start + _TEXT_ROWS]
        numeric = block.str.contains(_NUMBER).fill_null(False)
        is_number = numeric.to_numpy()
        if is_number.any():
            out[is_number] = number_bits(block.filter(numeric).cast(float).to_numpy())
        if not is_number.all():
            out[~is_number] = _utf8_bits(block.filter(~numeric))
    return bits


def _utf8_bits(column: Any) -> Hashes:
    """Hashes of the UTF-8 bytes of texts, eight bytes of every text at a time.

    Polars has a hash of its own, but another one in every version.
    """
    content = (column.str.join("").item() or "").encode()
    lengths = column.str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    padded = np.frombuffer(content + bytes(_WORD), np.uint8)
    words = np.ndarray(len(content) + 1, "<u8", padded, strides=(1,))  # the eight bytes from each place on
    hashes = mixed(lengths.astype(np.uint64) + STEP)
    rows = np.flatnonzero((lengths > 0) & (lengths < _LONG))
    done = 0  # bytes of each text
    while len(rows):
        left = lengths[rows] - done
        word = words[starts[rows] + done].astype(np.uint64)
        unused = np.maximum(_WORD - left, 0).astype(np.uint64) * np.uint64(8)  # bits that belong to the next text
        hashes[rows] = mixed(hashes[rows] ^ ((word << unused) >> unused))
        rows = rows[left > _WORD]
        done += _WORD
    for row in np.flatnonzero(lengths >= _LONG).tolist():
        digest = hashlib.blake2b(content[starts[row] : ends[row]], digest_size=8).digest()
        hashes[row] = np.frombuffer(digest, "<u8")[0]
    hashes[lengths == 0] = _MISSING
    return hashes
