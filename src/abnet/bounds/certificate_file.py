"""Records of certificates as JSON files: what kind they are, and their fields."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abnet.records import atomic_path

__all__ = ["is_certificate_file", "read_record", "write_record"]

_FORMAT = "abnet certificate, version 1"
_MOST_BYTES = 2**26


def write_record(path: str | os.PathLike[str], kind: str, record: Mapping[str, Any]) -> None:
    """Write a record as JSON, whole or not at all."""
    text = json.dumps({"format": _FORMAT, "kind": kind, "certificate": record}, indent=2, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_record(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """The kind and the fields of a record that `write_record` wrote; ValueError if it is none.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "certificate.json"
    >>> write_record(file, "errors", {"delta": 0.05})
    >>> read_record(file), is_certificate_file(file)
    (('errors', {'delta': 0.05}), True)
    """
    if Path(path).stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for a certificate.")
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a certificate: it is no JSON text.") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT or set(content) != {
        "format", "kind", "certificate",
    }:  # fmt: skip
        raise ValueError(f"{path} is not a certificate that abnet wrote.")
    if not isinstance(content["kind"], str) or not isinstance(content["certificate"], dict):
        raise ValueError(f"{path} is damaged: a certificate has a kind and fields.")
    return content["kind"], content["certificate"]


def is_certificate_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a certificate in JSON; model files begin with a number in bytes."""
    with Path(path).open("rb") as file:
        return b'"format": "abnet certificate' in file.read(200)
