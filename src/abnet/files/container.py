"""Named arrays and a few texts in one safetensors file, with a digest of everything."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["digest", "pack", "unpack"]

HEADER = 2**26
"""Longest header read, in bytes: the preparation of a very wide table takes some megabytes."""

_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
"""Types of arrays that predictors are made of, by their name in the file."""


def pack(arrays: dict[str, NDArray[Any]], texts: dict[str, str]) -> bytes:
    """The bytes of a safetensors file, always the same for the same content.

    Written here, since the library orders the texts at random, and takes the memory of an array as it lies: one in
    Fortran order would come back with its values at other places.
    """
    header: dict[str, Any] = {"__metadata__": texts}
    content = b""
    for name in sorted(arrays):
        array = arrays[name]
        dtype = next((key for key, known in _DTYPES.items() if np.dtype(known) == array.dtype), None)
        if dtype is None:
            raise ValueError(f"the array {name} of type {array.dtype} cannot be stored in a model file.")
        data = array.astype(_DTYPES[dtype]).tobytes("C")
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        content += data
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # arrays of float64 then lie at multiples of 8 bytes
    return len(text).to_bytes(8, "little") + text + content


def unpack(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Arrays, each in memory of its own, and texts; ValueError if the file is truncated, damaged or foreign.

    Nothing is allocated that the file itself does not fill.
    """
    from safetensors import SafetensorError, safe_open

    _check_header(path)
    try:
        with safe_open(str(path), "np") as file:
            return {name: _array(file, name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118 no mapping
    except SafetensorError as error:
        raise ValueError(f"it is truncated, damaged or no safetensors file ({error}).") from error


def _check_header(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError("it is truncated, or no safetensors file.")
    if length > HEADER:
        raise ValueError(f"its header of {length:,} bytes exceeds the {HEADER:,} that are read.")


def _array(file: Any, name: str) -> NDArray[Any]:
    dtype = _DTYPES.get(file.get_slice(name).get_dtype())
    if dtype is None:
        raise ValueError(f"the array {name[:60]!r} has a type that no model has.")
    # A copy is aligned, and lies in memory as training left it: both decide about the last bit of a product.
    return np.array(file.get_tensor(name), dtype, order="C", copy=True)


def digest(arrays: dict[str, NDArray[Any]], *texts: str) -> str:
    """SHA-256 of texts and arrays with their names, types and shapes, in hexadecimal.

    Examples
    --------
    >>> digest({"b": np.zeros(2)}, "config") == digest({"b": np.zeros(3)}, "config")
    False
    """
    total = hashlib.sha256()
    for text in texts:
        _add(total, text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
        _add(total, f"{name} {array.dtype.str} {array.shape}".encode())
        _add(total, array.tobytes())
    return total.hexdigest()


def _add(total: Any, content: bytes) -> None:
    # The length goes first, so that no two different lists of parts run together to the same bytes.
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)
