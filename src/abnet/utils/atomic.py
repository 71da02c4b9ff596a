"""Atomic writing of files: a file appears complete or not at all."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_path", "check_writable", "discard_unfinished", "temporary_folder"]

_UNFINISHED: set[Path] = set()
"""Temporary files and folders of this module that are not yet removed."""

_NO_SPACE = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""Errors of a full disk, a file too large for its file system, and an exhausted quota."""


def check_writable(path: str | os.PathLike[str]) -> Path:
    """The path that would be written, with links resolved; raise an OSError if it cannot be written.

    Call it before a long job that ends with writing a file.

    Examples
    --------
    >>> check_writable("/")
    Traceback (most recent call last):
    IsADirectoryError: / is a folder; name a file.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a regular file, so it cannot be replaced; name another.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}; make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: no permission to write in the folder {target.parent}.")
    return target


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path`; it is renamed to `path` if the block succeeds, and removed otherwise.

    The content is flushed to disk before the file is renamed, so even after a power failure there is either the old
    file or the new one.

    Examples
    --------
    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_path(final) as temporary:
    ...     _ = temporary.write_text("42")
    ...     final.exists()
    False
    >>> final.read_text()
    '42'
    """
    target = check_writable(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    _UNFINISHED.add(temporary)
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        _flush(temporary)
        temporary.replace(target)
    except OSError as error:
        # An error with a file name comes from the block, which may write elsewhere too.
        if error.errno not in _NO_SPACE or error.filename:
            raise
        message = f"{error.strerror}; nothing was written: make room there, or name another place"
        raise OSError(error.errno, message, os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
        _UNFINISHED.discard(temporary)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder, removed when the block ends.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    folder = Path(tempfile.mkdtemp(prefix="abnet-"))
    _UNFINISHED.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _UNFINISHED.discard(folder)


def discard_unfinished() -> None:
    """Remove the temporary files and folders of all blocks.

    For a process that ends inside such blocks without leaving them.
    """
    for path in list(_UNFINISHED):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Flush the content of a file to the disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
