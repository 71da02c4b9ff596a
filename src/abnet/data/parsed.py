"""Arrays parsed from a source, and a cache of them, so that a data set loads fast the second time."""

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["Parsed", "recall", "remember"]


class Parsed(NamedTuple):
    """Features (n, d), labels or digits (n,), and names of the features, in the smallest types that hold them."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


def remember(parsed: Parsed, folder: Path, key: str) -> None:
    """Write the arrays as ``.npy`` files under a key; a folder that cannot be written to is no error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for field, array in parsed._asdict().items():
            _write_atomically(folder / f"{key}.{field}.npy", array)
    except OSError:
        pass  # a cache is a convenience: the arrays are in memory all the same


def recall(folder: Path, key: str) -> Parsed | None:
    """The arrays under a key; None when they are absent, damaged or do not fit together."""
    try:
        arrays = [np.load(folder / f"{key}.{field}.npy", allow_pickle=False) for field in Parsed._fields]
    except (OSError, ValueError, EOFError):
        return None
    parsed = Parsed(*arrays)
    n, d = parsed.X.shape if parsed.X.ndim == 2 else (-1, -1)
    return parsed if parsed.y.shape == (n,) and parsed.feature_names.shape == (d,) else None


def _write_atomically(path: Path, array: np.ndarray) -> None:
    """Write beside the final name, then rename: a reader sees the whole file or none."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array, allow_pickle=False)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
