"""Records of certificates as JSON files: what kind they are, and their fields."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abnet.atomic import atomic_path

__all__ = ["kind_of_record", "read_record", "write_record"]

_MOST_BYTES = 2**26
_A = {"certificate": "a certificate", "estimate": "an estimate"}


def write_record(
    path: str | os.PathLike[str], kind: str, record: Mapping[str, Any], *, what: str = "certificate"
) -> None:
    """Write a record as JSON, whole or not at all; `what` is "certificate" or "estimate", and never both."""
    text = json.dumps({"format": _format(what), "kind": kind, what: record}, indent=2, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_record(path: str | os.PathLike[str], *, what: str = "certificate") -> tuple[str, dict[str, Any]]:
    """The kind and the fields of a record that `write_record` wrote; ValueError if it is none.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "certificate.json"
    >>> write_record(file, "errors", {"delta": 0.05})
    >>> read_record(file), kind_of_record(file)
    (('errors', {'delta': 0.05}), 'certificate')
    """
    if Path(path).stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for {_A[what]}.")
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not {_A[what]}: it is no JSON text.") from error
    found = content.get("format") if isinstance(content, dict) else None
    other = next((name for name in _A if name != what and found == _format(name)), None)
    if other is not None:
        raise ValueError(f"{path} holds {_A[other]}, not {_A[what]}.")
    if found != _format(what) or set(content) != {"format", "kind", what}:
        raise ValueError(f"{path} is not {_A[what]} that abnet wrote.")
    if not isinstance(content["kind"], str) or not isinstance(content[what], dict):
        raise ValueError(f"{path} is damaged: {_A[what]} has a kind and fields.")
    return content["kind"], content[what]


def kind_of_record(path: str | os.PathLike[str]) -> str | None:
    """Whether a file begins like a "certificate" or an "estimate" in JSON; model files begin with a number in bytes."""
    with Path(path).open("rb") as file:
        start = file.read(200).decode("ascii", "replace")
    return next((what for what in _A if f'"format": "abnet {what}' in start), None)


def _format(what: str) -> str:
    return f"abnet {what}, version 1"
