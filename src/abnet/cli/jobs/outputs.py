"""Where a command may write: never over what it reads, and over an older file only if that is of the same kind."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from abnet.atomic import check_writable
from abnet.cli.guard import UsageError

__all__ = ["check_output", "kind_of_file"]

MODEL, CSV, OTHER = "model", "CSV", "other"

_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


def check_output(output: Path, kind: str, *, inputs: Iterable[Path], overwrite: bool) -> None:
    """Refuse an output before anything is read.

    Parameters
    ----------
    output : path
    kind : {"model", "CSV"}
        What will be written.
    inputs : iterable of path
        What the command reads; ``-`` is standard input.
    overwrite : bool
        Whether an older file of another kind may be replaced; one of the inputs never is.

    Raises
    ------
    UsageError
        If the output is one of the inputs, by whatever spelling or link, or would replace a file of another kind.
    OSError
        If it cannot be written there.
    """
    for source in inputs:
        if _same_file(output, source):
            raise UsageError(f"--output: {output} is {source}, which is read; name another file.")
    check_writable(output)
    if output.exists() and not overwrite and kind_of_file(output) not in (kind, ""):
        raise UsageError(f"--output: {output} exists and is no {kind} file; name another, or add --overwrite.")


def _same_file(first: Path, second: Path) -> bool:
    if os.fspath(second) == "-":
        return False
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def kind_of_file(path: Path) -> str:
    """What a file holds: "model", "CSV", "other", or nothing at all ("").

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
        if _is_model(start[:8], path.stat().st_size) and _says_abnet(start[8:] + file.read(_header_size(start))):
            return MODEL
    text = path.name.lower().endswith(_ENDINGS) or start.startswith(b"prediction")
    return CSV if text and (start.startswith(b"\x1f\x8b") or b"\0" not in start) else OTHER


def _header_size(start: bytes) -> int:
    return int.from_bytes(start[:8], "little")


def _is_model(start: bytes, size: int) -> bool:
    """Whether a length of a header that fits into the file comes first, as in safetensors."""
    return len(start) == 8 and _header_size(start) <= size - 8


def _says_abnet(header: bytes) -> bool:
    try:
        record, _ = json.JSONDecoder().raw_decode(header.decode("utf-8", "ignore"))
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("__metadata__", {}).get("format") == "abnet"
