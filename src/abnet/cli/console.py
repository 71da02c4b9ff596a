"""Shared behaviour of the commands: errors become one line and an exit code, warnings become notes, Ctrl-C is handled.

This module is loaded first and imports no library, so that Ctrl-C is handled from the start. Results go to stdout, as
text and tables, or as JSON.
"""

import codecs
import io
import json
import os
import shlex
import shutil
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from types import FrameType
from typing import Any, TextIO

from abnet.utils.atomic import discard_unfinished
from abnet.utils.errors import NamesParameters, Parameter, ParameterError
from abnet.utils.wording import aligned, page, paragraphs

__all__ = [
    "UsageError",
    "as_json",
    "bar",
    "data_stream",
    "file_size",
    "guarded",
    "indented",
    "install_handler",
    "as_option",
    "note",
    "note_data",
    "paragraph",
    "plain_streams",
    "replaced",
    "rows",
    "said",
    "say",
    "say_all",
    "when_interrupted",
    "width",
]


FAILED, MISUSED, INTERRUPTED, UNREAD = 1, 2, 130, 141
"""Exit codes; the last is that of programs which write to a pipe that nobody reads any more (128 + SIGPIPE)."""


class UsageError(ValueError):
    """Invalid options, alone or in combination."""


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that failures print one line on stderr and set an exit code.

    Errors in the data, the files or the options (ValueError, OSError, ImportError, MemoryError) can be fixed by the
    user and print no traceback; ``ABNET_TRACEBACK=1`` shows it anyway. Anything else is a bug, and its traceback is
    printed for the bug report. Parameter names in messages of the library are replaced by option names.
    """
    known = frozenset(signature(command).parameters)

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with _exits(known), _noted_warnings(known), _begun(), page(width(most=100)):
            command(*args, **options)
            sys.stdout.flush()

    return run


@contextmanager
def _begun() -> Iterator[None]:
    """Mark that a command has begun: from now on it sets the message for Ctrl-C itself."""
    _LAST_WORDS.append("interrupted.")
    try:
        yield
    finally:
        _LAST_WORDS.pop()


@contextmanager
def _exits(options: frozenset[str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted.")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader closed the pipe (as in `abnet predict … | head`); Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD) from None
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("ABNET_TRACEBACK") == "1":
            raise
        note(f"error: {_one_line(error, options)}")
        raise SystemExit(MISUSED if isinstance(error, UsageError | ParameterError) else FAILED) from None


@contextmanager
def _noted_warnings(options: frozenset[str]) -> Iterator[None]:
    """Print warnings as notes, each once; deprecation warnings of libraries are hidden."""
    _SAID.clear()
    _PENDING.clear()
    _RECORDS.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("once", kind)
        warnings.filterwarnings("ignore", module=r"(sklearn|scipy|numpy|joblib|jax|polars)\b")
        warnings.showwarning = lambda message, *_, **__: _heard(message, options)
        try:
            yield
        finally:
            say_all(())


_SAID: list[str] = []
_PENDING: list[Any] = []
"""Notes of the library that come up before a command says its own."""
_RECORDS: list[dict[str, Any]] = []


def _heard(message: Any, options: frozenset[str]) -> None:
    """Handle a warning: notes on tables are kept for `say_all`, which groups them."""
    if hasattr(message, "notes"):
        _PENDING.extend(message.notes)
    else:
        say(_worded(message, options) if isinstance(message, NamesParameters) else message)


def say(text: Any) -> None:
    """Print a note on stderr, once; `said` returns it for ``--json``."""
    line = _folded(text)
    if line not in _SAID:  # Python's own "once" begins anew wherever warnings are caught
        _SAID.append(line)
        note(f"note: {line}")


def say_all(notes: Iterable[Any], *, every: bool = False) -> None:
    """Print several notes; notes on tables are grouped, the most important first, unless `every`."""
    found = [*_PENDING, *notes]
    _PENDING.clear()
    about = [item for item in found if hasattr(item, "severity")]
    if about:
        from abnet.tables.notes import note_lines, note_records

        for line in note_lines(about, every=every, spell=as_option):
            say(line)
        _RECORDS.extend(note_records(about, as_option))
    for item in found:
        if not hasattr(item, "severity"):
            say(item)


def as_option(parameter: Parameter) -> str:
    """A parameter of a note as an option.

    Examples
    --------
    >>> as_option(Parameter("dates", "first seen"))
    "--date 'first seen'"
    """
    from abnet.tables.notes import OPTIONS

    name = OPTIONS.get(parameter.name, parameter.name).replace("_", "-")
    return f"--{name} {shlex.quote(str(parameter.value))}"


def note_data() -> list[dict[str, Any]]:
    """The notes on tables of the running command as data: code, columns, rows, severity, example and text."""
    return list(_RECORDS)


def said() -> list[str]:
    """The notes of the running command, in order."""
    return list(_SAID)


def note(text: str) -> None:
    """Print a message on stderr: one line, or wrapped to the width of a terminal."""
    if sys.stderr.isatty():
        text = textwrap.fill(text, width(), subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    print(text, file=sys.stderr, flush=True)


def _one_line(error: BaseException, options: frozenset[str]) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or narrower layers."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    if isinstance(error, NamesParameters):
        return _folded(_worded(error, options))
    return _folded(error) or type(error).__name__


def _worded(message: NamesParameters, options: frozenset[str]) -> str:
    """A message whose parameters are spelled as options."""
    from abnet.cli.options import spelled

    return message.worded(lambda parameter: spelled(parameter, options))


def _folded(text: Any) -> str:
    return " ".join(str(text).split())


# Ctrl-C


def install_handler() -> None:
    """Install the Ctrl-C handler, unless the signal is ignored, as in a background job."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


_LAST_WORDS = ["interrupted; nothing was written."]
"""The message for Ctrl-C; initially, no command has begun."""


@contextmanager
def when_interrupted(line: str) -> Iterator[None]:
    """Set the message for Ctrl-C during a block."""
    _LAST_WORDS.append(line)
    try:
        yield
    except KeyboardInterrupt:
        note(line)
        raise SystemExit(INTERRUPTED) from None
    finally:
        _LAST_WORDS.pop()


def _end(number: int, frame: FrameType | None) -> None:
    """Remove unfinished files, print one line and end the process, whatever it is doing.

    No exception is raised: while JAX's compiled parts are loaded, it would abort the process; during JAX's garbage
    collection it would be lost; and training would catch it and keep its best network so far, which is not wanted here.
    """
    discard_unfinished()
    shown = b"\x1b[?25h\r\n" if sys.stderr is not None and sys.stderr.isatty() else b""  # bars hide the cursor
    os.write(2, shown + _LAST_WORDS[-1].encode("ascii", "replace") + b"\n")
    os._exit(INTERRUPTED)


# Encodings


def plain_streams() -> None:
    """Let stdout and stderr write plain ASCII for characters that their encoding does not have."""
    codecs.register_error("abnet-plain", _plain_character)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and not str(stream.encoding or "").lower().startswith("utf"):
            stream.reconfigure(errors="abnet-plain")


def data_stream() -> TextIO:
    """stdout for rows of data: files and pipes get UTF-8, like output files, independent of the locale."""
    if not sys.stdout.isatty() and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


_PLAIN = {
    "×": "x",
    "…": "...",
    "±": "+/-",
    "–": "-",
    "—": "-",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "δ": "delta",
    "ε": "epsilon",
    "ℓ": "l",
    "·": "*",
    "−": "-",
    "│": "|",
    "─": "-",
    "━": "-",
    "╸": "-",
    "╺": "-",
    "•": "*",
}


def _plain_character(error: UnicodeError) -> tuple[str, int]:
    """ASCII replacement for a character that an encoding lacks; characters without one are escaped.

    Examples
    --------
    >>> codecs.register_error("abnet-plain", _plain_character)
    >>> "8 × 8 … Bodø".encode("ascii", "abnet-plain")
    b'8 x 8 ... Bod\\\\xf8'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in found), error.end


# Results


def width(*, least: int = 40, most: int | None = None) -> int:
    """Columns of the terminal; 80 where there is none."""
    found = max(shutil.get_terminal_size((80, 24)).columns, least)
    return found if most is None else min(found, most)


def as_json(record: dict[str, Any]) -> None:
    """A record as indented JSON; what is not finite would not be JSON, and is an error."""
    print(json.dumps(record, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy numbers and paths as plain values."""
    return value.item() if hasattr(value, "item") else str(value)


def paragraph(text: str, *, end: str = "\n\n") -> None:
    """Text filled to the width of a page."""
    with page(width(most=100)):
        print(paragraphs(text), end=end)


def rows(header: Sequence[str], body: Sequence[Sequence[str]], *, left: int = 1, least: int | None = None) -> None:
    """A table; the first `left` columns flush left, the others flush right.

    Where the terminal is too narrow, columns are left out from the right, but for the first `least`.

    Examples
    --------
    >>> rows(["model", "error"], [["a tree", "3%"], ["a net", "12%"]])
    model   error
    a tree     3%
    a net     12%
    """
    with page(width()):
        print(aligned([header, *body], left=left, least=least, breaks=False))


def file_size(size: int) -> str:
    """A size as people read it.

    Examples
    --------
    >>> file_size(900), file_size(20_480), file_size(5_000_000)
    ('900 bytes', '20.5 kB', '5.0 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 999_950 else f"{size / 1e6:,.1f} MB"


def replaced(older: bool) -> str:
    """What to add about a file that was there before."""
    return ", replacing an older file" if older else ""


@contextmanager
def bar(description: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on stderr, or None if stderr is not a terminal.

    Each stage that is reported with `abnet.utils.progress.tell` has its own bar. If the returned function is called
    with the fraction of the whole that is done, there is one bar, named after the current stage. A bar is full when its
    stage, or the block, has ended.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from abnet.utils.progress import watched

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars = _Bars(progress, description)
        with watched(bars.stage):
            yield bars.whole
        bars.finish()


class _Bars:
    """One bar for each stage, or one for all where the share of the whole is known."""

    def __init__(self, progress: Any, description: str) -> None:
        self._progress, self._name, self._of_whole = progress, description, False
        self._task = progress.add_task(description, total=None)

    def whole(self, share: float) -> None:
        """The share of the whole that is done."""
        self._of_whole = True
        self._progress.update(self._task, completed=share, total=1.0)

    def stage(self, name: str, share: float | None) -> None:
        """The stage at work, and the share of it that is done."""
        if name != self._name and not self._of_whole:
            self.finish()
            self._task = self._progress.add_task(name, total=None)
        self._name = name
        if self._of_whole:
            self._progress.update(self._task, description=name)
        elif share is not None:
            self._progress.update(self._task, completed=share, total=1.0)

    def finish(self) -> None:
        """Fill the bar at work."""
        self._progress.update(self._task, completed=1.0, total=1.0)


def indented(text: str, *, name: str = "", indent: int = 13) -> None:
    """A line of facts, filled: the name, if any, stands to the left of it."""
    room = width(most=100)
    start, rest = (f"{name}".ljust(indent), " " * indent) if name else ("  ", "    ")
    print(textwrap.fill(f"{start}{text}", room, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False))
