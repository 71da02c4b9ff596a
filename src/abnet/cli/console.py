"""Around every command: errors become one line and an exit code, warnings become notes, Ctrl-C ends it properly.

This module is loaded first of all and loads no library, so that Ctrl-C is answered from the start.

Results on stdout: for people as text and tables, for machines as JSON.
"""

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from types import FrameType
from typing import TYPE_CHECKING, Any

from abnet.errors import NamesParameters, ParameterError

if TYPE_CHECKING:
    from abnet.cli.jobs.compare_models import Contender

__all__ = [
    "UsageError",
    "as_json",
    "guarded",
    "install_handler",
    "kilobytes",
    "note",
    "paragraph",
    "rows",
    "said",
    "say",
    "show_contenders",
]


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
    """A note to the user of the command at work, once, in one line on stderr; `said` repeats it, for ``--json``."""
    line = _folded(text)
    if line not in _SAID:  # Python's own "once" begins anew wherever warnings are caught
        _SAID.append(line)
        note(f"note: {line}")


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


def as_json(record: dict[str, Any]) -> None:
    """A record as indented JSON; what is not finite would not be JSON, and is an error."""
    print(json.dumps(record, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy numbers and paths as plain values."""
    return value.item() if hasattr(value, "item") else str(value)


def paragraph(text: str) -> None:
    """Text filled to the width of a page, then an empty line."""
    from abnet.words import paragraphs

    print(paragraphs(text), end="\n\n")


def rows(header: Sequence[str], body: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table; the first `left` columns flush left, the others flush right.

    Examples
    --------
    >>> rows(["model", "error"], [["a tree", "3%"], ["a net", "12%"]])
    model   error
    a tree     3%
    a net     12%
    """
    from abnet.words import aligned

    print(aligned([header, *body], left=left))


def kilobytes(size: int) -> str:
    """A size as people read it.

    Examples
    --------
    >>> kilobytes(900), kilobytes(20_480), kilobytes(5_000_000)
    ('0.9 kB', '20 kB', '5,000 kB')
    """
    return f"{size / 1000:,.1f} kB" if size < 10_000 else f"{size / 1000:,.0f} kB"


def show_contenders(contenders: "tuple[Contender, ...]", *, counted: bool = False) -> None:
    """One line per contender, then what has to be said about them. `counted`: the bounds account for the choice."""
    header = ["model", "error rate (upper bound)", "bound", "test error", "balanced", "AUC", "log loss", "ECE"]
    header += ["size", "time", "compilation"]
    rows(header, [_cells(contender) for contender in contenders])
    print()
    for text in (*(contender.note for contender in contenders), _winners(contenders, counted), _surprises(contenders)):
        if text:
            paragraph(text)


def _cells(contender: "Contender") -> list[str]:
    from abnet.words import percent, percent_up

    error, seconds = contender.test_error, contender.seconds
    return [
        f"{contender.name} (abnet fit)" if contender.is_fit else contender.name,
        "-" if contender.bound is None else percent_up(contender.bound),
        contender.method or "-",
        "-" if error is None else percent(error),
        "-" if contender.balanced_error is None else percent(contender.balanced_error),
        *("-" if value is None else f"{value:.3f}" for value in (contender.auc, contender.log_loss)),
        "-" if contender.calibration_error is None else f"{contender.calibration_error:.3f}",
        "-" if contender.size is None else kilobytes(contender.size),
        "-" if seconds is None else f"{seconds:.1f} s",
        f"{contender.compile_seconds:.1f} s" if contender.compile_seconds else "-",
    ]


def _winners(contenders: "tuple[Contender, ...]", counted: bool) -> str:
    tightest = _least({contender.name: contender.bound for contender in contenders})
    fewest = _least({contender.name: contender.test_error for contender in contenders})
    found, n = f"Tightest certificate: {tightest}. Fewest test errors: {fewest}.", len(contenders)
    if counted:
        return f"{found} Every certificate accounts for the choice among all {n}, so that any may be kept."
    return (
        f"{found} Each certificate holds by itself; to choose among all {n} by their certificates, divide --delta by "
        f"{n}, or let --save do so."
    )


def _least(values: dict[str, float | None]) -> str:
    """Names of the smallest value, all of them where several share it, which is then said.

    Examples
    --------
    >>> _least({"a": 0.1, "b": None, "c": 0.1, "d": 0.2})
    'a tie of a; c'
    """
    known = {name: value for name, value in values.items() if value is not None}
    least = [name for name, value in known.items() if value == min(known.values())]
    return f"{'a tie of ' * (len(least) > 1)}{'; '.join(least)}" or "none"


def _surprises(contenders: "tuple[Contender, ...]") -> str:
    """A word on test errors above the certificate, which chance brings about on few test rows."""
    above = [c for c in contenders if c.bound is not None and c.test_error is not None and c.test_error > c.bound]
    if not above:
        return ""
    names = "; ".join(contender.name for contender in above)
    return (
        f"A test error above its certificate ({names}) is no contradiction: the error on {above[0].n_test:,} test rows "
        "is itself uncertain, and a certificate may fail with probability delta."
    )
