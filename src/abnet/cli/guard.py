"""Around every command: errors become one line and an exit code, warnings become notes, Ctrl-C ends it properly.

This module is loaded first of all and loads no library, so that Ctrl-C is answered from the start.
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from types import FrameType
from typing import Any

from abnet.errors import NamesParameters, ParameterError

__all__ = ["UsageError", "guarded", "install_handler", "note", "said", "say"]

FAILED, MISUSED, INTERRUPTED, UNREAD = 1, 2, 130, 141
"""Exit codes; the last is that of programs which write to a pipe that nobody reads any more (128 + SIGPIPE)."""


class UsageError(ValueError):
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
        with _exits(known), _noted_warnings():
            command(*args, **options)
            sys.stdout.flush()

    return run


@contextmanager
def _exits(options: frozenset[str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted.")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # Who reads has seen enough (as in `abnet predict … | head`); Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD) from None
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("ABNET_TRACEBACK") == "1":
            raise
        note(f"error: {_one_line(error, options)}")
        raise SystemExit(MISUSED if isinstance(error, UsageError | ParameterError) else FAILED) from None


@contextmanager
def _noted_warnings() -> Iterator[None]:
    """Warnings as notes, each once; those about the program's own making are of no use to its user."""
    _SAID.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("once", kind)
        warnings.showwarning = lambda message, *_, **__: say(message)
        yield


_SAID: list[str] = []


def say(text: Any) -> None:
    """A note to the user of the command at work, in one line on stderr; `said` gives it again, for ``--json``."""
    _SAID.append(_folded(text))
    note(f"note: {_SAID[-1]}")


def said() -> list[str]:
    """The notes of the command at work, in their order."""
    return list(_SAID)


def note(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)


def _one_line(error: BaseException, options: frozenset[str]) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or narrower layers."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    if isinstance(error, NamesParameters):
        from abnet.cli.options import spelled

        return _folded(error.worded(lambda parameter: spelled(parameter, options)))
    return _folded(error) or type(error).__name__


def _folded(text: Any) -> str:
    return " ".join(str(text).split())


_SWALLOWS = "_xla_gc_callback"
_AGAIN = 0.05  # seconds


def install_handler() -> None:
    """Answer Ctrl-C from now on, unless it is ignored, as in a job in the background."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _answer)


def _answer(number: int, frame: FrameType | None) -> None:
    """End at once while modules are loaded; raise KeyboardInterrupt inside a command, which knows what to do.

    An exception that passes through the loading of JAX's compiled parts aborts the process, and one raised while JAX
    collects garbage is printed and lost: the first must not be raised, the second is raised a little later.
    """
    frames = _stack(frame)
    if any(frame.f_code.co_name == _SWALLOWS for frame in frames):
        _ask_again()
    elif _in_command(frames) and not _loads_jax(frames):
        raise KeyboardInterrupt
    else:
        os.write(2, b"interrupted.\n")
        os._exit(INTERRUPTED)


def _stack(frame: FrameType | None) -> list[FrameType]:
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _in_command(frames: list[FrameType]) -> bool:
    """Whether a guarded command runs, and is more than loaded."""
    return any(frame.f_code.co_name == "run" and frame.f_globals.get("__name__") == __name__ for frame in frames)


def _loads_jax(frames: list[FrameType]) -> bool:
    loading = (frame.f_globals.get("__name__") or "" for frame in frames if frame.f_code.co_name == "<module>")
    return any(name.split(".")[0] in ("jax", "jaxlib") for name in loading)


def _ask_again() -> None:
    import threading

    timer = threading.Timer(_AGAIN, signal.raise_signal, [signal.SIGINT])
    timer.daemon = True
    timer.start()
