"""The cache folder of compiled programs: its location, its contents, and how to clear it."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CacheContent", "cache_folder", "clear_cache", "show_cache"]


@dataclass(frozen=True)
class CacheContent:
    """Contents of the cache: folder (None: no cache), number of files, bytes."""

    folder: Path | None
    n_files: int
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "folder": None if self.folder is None else str(self.folder), "n_files": self.n_files, "bytes": self.size
        }  # fmt: skip


def cache_folder() -> Path | None:
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
    folder, files = cache_folder(), _files()
    return CacheContent(folder, len(files), sum(size for _, size in files))


def clear_cache() -> CacheContent:
    """Delete the files in the cache; running processes compile again what they need."""
    folder, files = cache_folder(), _files()
    for path, _ in files:
        with suppress(FileNotFoundError):
            path.unlink()
    return CacheContent(folder, len(files), sum(size for _, size in files))


def _files() -> list[tuple[Path, int]]:
    folder, found = cache_folder(), []
    for path in [] if folder is None or not folder.is_dir() else sorted(folder.iterdir()):
        with suppress(FileNotFoundError):  # another process may tidy up
            if path.is_file():
                found.append((path, path.stat().st_size))
    return found
