"""JSON files of certificates and estimates; which of the two it holds, a file says itself."""

import os
from pathlib import Path
from typing import Any, Literal

import msgspec

from abnet.atomic import atomic_path

__all__ = ["Kind", "kind_of_record", "read_record", "write_record"]

Kind = Literal["certificate", "estimate"]

_VERSION = "version 2"
_MOST_BYTES = 2**26


def write_record(path: str | os.PathLike[str], kind: Kind, record: dict[str, Any]) -> None:
    """Write a record, whole or not at all."""
    text = msgspec.json.format(msgspec.json.encode({"format": f"abnet {kind}, {_VERSION}", kind: record}))
    with atomic_path(path) as temporary:
        temporary.write_bytes(text + b"\n")


def kind_of_record(path: str | os.PathLike[str]) -> Kind | None:
    """What a file says it holds; None for any other file."""
    with Path(path).open("rb") as file:
        start = file.read(100)
    for kind in ("certificate", "estimate"):
        if f'"abnet {kind},'.encode() in start:
            return kind
    return None


def read_record(path: str | os.PathLike[str], kind: Kind) -> Any:
    """The record in a file; ValueError if it holds none of this kind."""
    file = Path(path)
    if file.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large: this is no {kind}.")
    try:
        content = msgspec.json.decode(file.read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{path} holds no {kind}: it is not JSON.") from error
    if not isinstance(content, dict) or content.get("format") != f"abnet {kind}, {_VERSION}":
        raise ValueError(f"{path} holds no {kind} that this version of abnet reads.")
    return content.get(kind)
