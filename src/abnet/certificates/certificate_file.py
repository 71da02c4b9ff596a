"""JSON files of certificates and estimates; the file itself records which of the two it contains."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from abnet.utils.atomic import atomic_path

__all__ = ["Kind", "kind_of_record", "read_record", "write_record"]

T = TypeVar("T")
Kind = Literal["certificate", "estimate"]

_VERSION = 4
_MOST_BYTES = 2**26


def write_record(path: str | os.PathLike[str], kind: Kind, record: dict[str, Any]) -> None:
    """Write a record atomically, with its checksum."""
    content = {"format": f"abnet {kind}, version {_VERSION}", kind: record, "checksum": _checksum(record)}
    text = msgspec.json.format(msgspec.json.encode(content))
    with atomic_path(path) as temporary:
        temporary.write_bytes(text + b"\n")


def kind_of_record(path: str | os.PathLike[str]) -> Kind | None:
    """The kind of record in a file; None for any other file."""
    with Path(path).open("rb") as file:
        start = file.read(100)
    for kind in ("certificate", "estimate"):
        if f'"abnet {kind},'.encode() in start:
            return kind
    return None


def read_record(path: str | os.PathLike[str], kind: Kind, make: Callable[[Any], T]) -> T:
    """What `make` makes of the record in a file; raises a ValueError if the file has no valid record of this kind.

    The checksum is compared last, because `make` can say what is wrong.
    """
    file = Path(path)
    if file.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} contains no {kind}: it is too large.")
    try:
        content = msgspec.json.decode(file.read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{path} contains no {kind}: it is not JSON.") from error
    written = ""
    if isinstance(content, dict):
        written = str(content.get("format"))
    version = re.fullmatch(rf"abnet {kind}, version (\d{{1,9}})", written)
    if version is None:
        raise ValueError(f"{path} contains no {kind}.")
    found = int(version[1])
    if found < _VERSION:
        raise ValueError(
            f"{path} contains a {kind} of format version {found}, this release reads {_VERSION}; make it again, or "
            "read it with the abnet that wrote it."
        )
    if found > _VERSION:
        raise ValueError(
            f"{path} contains a {kind} of format version {found}, this release reads {_VERSION}; install a newer abnet."
        )
    record = content.get(kind)
    try:
        made = make(record)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    checksum = content.get("checksum")
    if checksum is not None and checksum != _checksum(record):
        raise ValueError(f"{path} contains a {kind} that was changed after it was written: its checksum differs.")
    return made


def _checksum(record: Any) -> str:
    """SHA-256 of a record, whatever the layout of its file and the order of the fields.

    It notices accidental changes, such as a dropped statement. Whoever changes a file on purpose can renew it.
    """
    return hashlib.sha256(msgspec.json.encode(record, order="sorted")).hexdigest()
