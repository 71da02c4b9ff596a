"""The cache folder of compiled programs: its location, its contents, and how to clear it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CacheContent", "program_folder", "clear_cache", "show_cache"]


@dataclass(frozen=True)
class CacheContent:
    """Contents of the cache.

    Attributes
    ----------
    folder : Path or None
        None if there is no cache.
    n_files : int
    size : int
        In bytes.
    """

    folder: Path | None
    n_files: int
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        folder = None
        if self.folder is not None:
            folder = str(self.folder)
        return {"folder": folder, "n_files": self.n_files, "bytes": self.size}


def program_folder() -> Path | None:
    """The folder, existing or not: ``ABNET_CACHE``, or that of the user; None if ``ABNET_CACHE`` is empty."""
    named = os.environ.get("ABNET_CACHE")
    if named == "":
        return None
    if named is None:
        import platformdirs

        named = platformdirs.user_cache_dir("abnet")
    return Path(named) / "compiled"


def show_cache() -> CacheContent:
    """Show the contents of the cache."""
    return _content(_files())


def clear_cache() -> CacheContent:
    """Delete the files in the cache, and return what it contained; running processes compile again what they need."""
    files = _files()
    for path in files:
        with suppress(FileNotFoundError):
            path.unlink()
    return _content(files)


def _content(sizes: Mapping[Path, int]) -> CacheContent:
    return CacheContent(program_folder(), len(sizes), sum(sizes.values()))


def _files() -> dict[Path, int]:
    """The files in the cache, and their sizes in bytes."""
    folder = program_folder()
    if folder is None or not folder.is_dir():
        return {}
    sizes = {}
    for path in sorted(folder.iterdir()):
        with suppress(FileNotFoundError):  # another process may have removed it
            if path.is_file():
                sizes[path] = path.stat().st_size
    return sizes
