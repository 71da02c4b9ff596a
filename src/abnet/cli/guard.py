"""Around every command: errors become one line and an exit code, warnings become notes."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import Any

import typer

from abnet.cli.interrupt import INTERRUPTED

__all__ = ["WrongUseError", "guarded", "note"]

FAILED, MISUSED, UNREAD = 1, 2, 141
"""Exit codes; the last is that of programs which write to a pipe that nobody reads any more (128 + SIGPIPE)."""


class WrongUseError(ValueError):
    """Options that make no sense, alone or together: the program was asked for the impossible."""


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose failures are one line on stderr and an exit code.

    Errors in the data, the files or the options (ValueError, OSError, ImportError, MemoryError) are the user's to put
    right and need no traceback; ``ABNET_TRACEBACK=1`` shows it all the same. Anything else is a fault of the program,
    and its traceback is what a report of it needs. What the library says of its parameters is said of the options.
    """
    known = frozenset(signature(command).parameters)

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with _exits(known), _noted_warnings(known):
            command(*args, **options)
            sys.stdout.flush()

    return run


@contextmanager
def _exits(options: frozenset[str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Who reads has seen enough (as in `abnet predict … | head`); Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(UNREAD) from None
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("ABNET_TRACEBACK") == "1":
            raise
        note(f"error: {_one_line(error, options)}")
        raise typer.Exit(MISUSED if isinstance(error, WrongUseError) else FAILED) from None


@contextmanager
def _noted_warnings(options: frozenset[str]) -> Iterator[None]:
    """Warnings as notes, each once; those about the program's own making are of no use to its user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("once", kind)
        warnings.showwarning = lambda message, *_, **__: note(f"note: {_one_line(message, options)}")
        yield


def note(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)


def _one_line(error: Any, options: frozenset[str]) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or narrower layers."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    from abnet.cli.in_cli_terms import spoken

    return spoken(" ".join(str(error).split()), options) or type(error).__name__
