"""The original files of the paper's data sets: where they are looked for, and the check that they are right."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["SHA256", "cache_folder", "find", "places", "read_checked"]

SHA256 = {
    "ad.data": "4841bab145e0b2df2bc17893ecd9d62f8fbeac2c389b41ca59d77da682c0c4eb",
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
"""SHA-256 of the content of every original file, after decompression."""

_DAMAGED = "; remove it, or put the original file in its place"


def cache_folder() -> Path:
    """The user's cache folder for data: downloads, and what was parsed before."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("abnet")) / "data"


def places(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Folders searched, in order: the one given, ``ABNET_DATA``, the user's cache."""
    named = [data_dir, os.environ.get("ABNET_DATA") or None]
    return [Path(folder).expanduser() for folder in named if folder is not None] + [cache_folder()]


def find(names: Sequence[str], folders: Sequence[Path]) -> list[Path] | None:
    """The first existing path for every file, plain or with the ending .gz; None when a file is nowhere."""
    found = [_first(name, folders) for name in names]
    return [path for path in found if path is not None] if None not in found else None


def _first(name: str, folders: Sequence[Path]) -> Path | None:
    candidates = (folder / file for folder in folders for file in (name, f"{name}.gz"))
    return next((path for path in candidates if path.is_file()), None)


def read_checked(path: Path, raw: bytes | None = None) -> bytes:
    """The content of an original file, decompressed, once its checksum agrees.

    Parameters
    ----------
    path : Path
        Named as in `SHA256`, with or without .gz.
    raw : bytes, optional
        The bytes of the file, where they have been read already.

    Raises
    ------
    ValueError
        If the file is truncated, damaged or another one; the message names it.
    """
    raw = path.read_bytes() if raw is None else raw
    try:
        content = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is truncated or not a gzip file ({error}){_DAMAGED}.") from error
    expected, found = SHA256[path.name.removesuffix(".gz")], hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ValueError(f"{path} has the wrong checksum (SHA-256 {found[:12]}…, expected {expected[:12]}…){_DAMAGED}.")
    return content
