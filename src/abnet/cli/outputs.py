"""Checks of output files: a command never overwrites an input, and an existing file only if it is of the same kind."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from abnet.cli.exit_codes import UsageError
from abnet.utils.atomic import check_writable

__all__ = ["EXPORTED", "check_output", "kind_of_file"]

MODEL = "model"
CSV = "CSV"
HTML = "HTML"
OTHER = "other"
EXPORTED = {"c": "exported C", "onnx": "exported ONNX"}
"""Kinds of files by the value of `abnet export --to`."""
_BEGINNINGS = {b"{": "JSON", b"\x89PNG": "picture", b"<?xml": "picture", b"<svg": "picture", b"%PDF": "picture"}
_NOT_PLAIN = (".gz", ".parquet", ".pq")
"""Endings of files that are not plain text, and that `abnet` would not read back as such."""
_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


def check_output(
    output: Path,
    kind: str,
    *,
    inputs: Iterable[Path | None] = (),
    overwrite: bool | None = None,
    option: str = "--output",
) -> None:
    """Raise an error for an invalid output before anything is read.

    Parameters
    ----------
    output : path
    kind : {"model", "CSV", "JSON", "HTML", "exported C", "exported ONNX"}
        What will be written.
    inputs : iterable of path or None
        What the command reads; ``-`` is standard input.
    overwrite : bool, optional
        Whether a file of another kind may be replaced (an input never is). None if the command has no such option.
    option : str
        The option that named it.

    Raises
    ------
    UsageError
        If the output is one of the inputs, by whatever spelling or link, or would replace a file of another kind.
    OSError
        If it cannot be written there.
    """
    for source in inputs:
        if source is not None and _same_file(output, source):
            raise UsageError(f"{option}: the output file is also an input: {source}; name another file.")
    if kind == CSV and output.suffix.lower() in _NOT_PLAIN:
        raise UsageError(f"{option}: {output} would be plain CSV in spite of its name; name a file such as out.csv.")
    check_writable(output)
    if output.exists() and not overwrite and kind_of_file(output) not in (kind, ""):
        remedy = "name another file"
        if overwrite is not None:
            remedy += ", or add --overwrite"
        raise UsageError(f"{option}: {output} is a file of another kind (not {kind}); {remedy}.")


def _same_file(first: Path, second: Path) -> bool:
    if os.fspath(second) == "-":
        return False
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def kind_of_file(path: Path) -> str:
    """What a file holds: "model", "CSV", "JSON", "picture", "HTML", an export, "other", or nothing at all ("").

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("x,y")
    >>> kind_of_file(path)
    'CSV'
    """
    with path.open("rb") as file:
        start = file.read(1 << 16)
        if not start:
            return ""
        if _may_be_safetensors(start, path.stat().st_size):
            header = start[8:] + file.read(_header_size(start))
            if _is_of_abnet(header):
                return MODEL
    if start.startswith(b"/*\n * A classifier written by abnet"):
        return EXPORTED["c"]
    if b"\x12\x05abnet" in start[:16]:  # the producer of a ModelProto
        return EXPORTED["onnx"]
    if start[:200].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return HTML
    for beginning, kind in _BEGINNINGS.items():
        if start.startswith(beginning):
            return kind
    is_named_as_text = path.name.lower().endswith(_ENDINGS) or start.startswith(b"prediction")
    is_gzipped = start.startswith(b"\x1f\x8b")
    is_binary = b"\0" in start
    if is_named_as_text and (is_gzipped or not is_binary):
        return CSV
    return OTHER


def _header_size(start: bytes) -> int:
    """The first eight bytes of a safetensors file: the size of its header."""
    return int.from_bytes(start[:8], "little")


def _may_be_safetensors(start: bytes, size: int) -> bool:
    """Whether a file of this size begins with the size of a header that fits into it."""
    return len(start) >= 8 and _header_size(start) <= size - 8


def _is_of_abnet(header: bytes) -> bool:
    """Whether the header of a safetensors file names abnet as its format."""
    try:
        record, _ = json.JSONDecoder().raw_decode(header.decode("utf-8", "ignore"))
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("__metadata__", {}).get("format") == "abnet"
