"""Which files are tables: their extensions, and first bytes that belong to another format."""

from pathlib import Path

from abnet.tables.table_errors import TableError

__all__ = ["check_extension", "extension", "refuse_other_formats"]

_EXTENSIONS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
_READ_LIKE_CSV = (".txt", ".txt.gz", ".dat", ".data")
_OTHER_PROGRAMS = (
    ".xlsx",
    ".xls",
    ".ods",
    ".json",
    ".feather",
    ".arrow",
    ".dta",
    ".sav",
    ".rds",
    ".pkl",
    ".arff",
    ".sas7bdat",
)
"""Extensions of tables that are not read, but could be saved as CSV."""

_OTHER_FORMATS = {
    b"PAR1": "a Parquet file; name it so that it ends in .parquet",
    b"PK\x03\x04": "a zip archive, as Excel writes them; save the table as CSV in UTF-8",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard; unpack it, or compress it with gzip",
    b"BZh9": "compressed with bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it, or compress it with gzip",
}
"""First bytes of files that are not text, each with what it is and what to do."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte-order marks of UTF-16; such text has zero bytes, too, and is reported as text that is not UTF-8."""


def extension(path: Path) -> str:
    """The extension of a file in lower case, with the one before ``.gz``.

    Examples
    --------
    >>> extension(Path("Cars.2024.CSV.gz")), extension(Path("cars.tsv")), extension(Path("cars"))
    ('.csv.gz', '.tsv', '')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        return "".join(suffixes[-2:])
    return "".join(suffixes[-1:])


def check_extension(path: Path) -> None:
    """Raise a TableError unless the extension is one of a table."""
    found = extension(path)
    if found in _EXTENSIONS or found in _READ_LIKE_CSV:
        return
    instead = f"tables end in {', '.join(_EXTENSIONS)}"
    if found in _OTHER_PROGRAMS:
        instead = "save it as CSV in UTF-8"
    raise TableError(f"{path}: unknown file extension {found!r}; {instead}.")


def refuse_other_formats(name: str, first_line: bytes) -> None:
    """Raise a TableError if the first line of a file shows that it is not a text table.

    Examples
    --------
    >>> refuse_other_formats("t.csv", b"PK\\x03\\x04")
    Traceback (most recent call last):
    abnet.tables.table_errors.TableError: t.csv is a zip archive, as Excel writes them; save the table as CSV in UTF-8.
    """
    for first_bytes, kind in _OTHER_FORMATS.items():
        if first_line.startswith(first_bytes):
            raise TableError(f"{name} is {kind}.")
    if b"\0" in first_line and not first_line.startswith(_UTF_16):
        raise TableError(f"{name} is not a text table (its first line holds zero bytes); save it as CSV in UTF-8.")
    if first_line[:9].lower() == b"@relation":
        raise TableError(
            f"{name} is an ARFF or KEEL file; keep the rows after @data, put a line with the column names above them, "
            "and save it as CSV."
        )
