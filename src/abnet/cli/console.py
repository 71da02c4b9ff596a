"""What the commands print: results on stdout, as text, tables or JSON; messages and notes on stderr.

Importing it loads no library.
"""

import codecs
import io
import json
import shlex
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.text_layout import aligned, page_width, paragraphs

__all__ = [
    "as_json",
    "as_option",
    "data_stream",
    "file_size",
    "indented",
    "message",
    "note",
    "on_one_line",
    "recorded_notes",
    "paragraph",
    "plain_streams",
    "replaced",
    "rows",
    "show_notes",
    "shown_notes",
    "warnings_as_notes",
    "width",
    "with_options",
]


@contextmanager
def warnings_as_notes(options: frozenset[str]) -> Iterator[None]:
    """Print warnings as notes, each once; deprecation warnings of libraries are hidden."""
    _SHOWN.clear()
    _PENDING.clear()
    _RECORDS.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("once", kind)
        warnings.filterwarnings("ignore", module=r"(sklearn|scipy|numpy|joblib|jax|polars)\b")
        warnings.showwarning = lambda warning, *_, **__: _show_warning(warning, options)
        try:
            yield
        finally:
            show_notes(())


_SHOWN: list[str] = []
"""Notes of the running command, in order."""
_PENDING: list[Any] = []
"""Notes of the library that come up before a command shows its own."""
_RECORDS: list[dict[str, Any]] = []
"""Notes on tables of the running command, as data."""


def _show_warning(warning: Any, options: frozenset[str]) -> None:
    """Print a warning as a note; notes on tables are kept for `show_notes`, which groups them."""
    if hasattr(warning, "notes"):
        _PENDING.extend(warning.notes)
    elif isinstance(warning, NamesParameters):
        note(with_options(warning, options))
    else:
        note(warning)


def note(text: Any) -> None:
    """Print a note on stderr, once; `shown_notes` returns it for ``--json``."""
    line = on_one_line(text)
    if line not in _SHOWN:  # Python's own "once" begins anew wherever warnings are caught
        _SHOWN.append(line)
        message(f"note: {line}")


def show_notes(notes: Iterable[Any], *, every: bool = False) -> None:
    """Print several notes; notes on tables are grouped, the most important first, unless `every`."""
    all_notes = [*_PENDING, *notes]
    _PENDING.clear()
    on_tables = [item for item in all_notes if hasattr(item, "severity")]
    others = [item for item in all_notes if not hasattr(item, "severity")]
    if on_tables:
        from abnet.tables.notes import note_lines, note_records

        for line in note_lines(on_tables, every=every, spell=as_option):
            note(line)
        _RECORDS.extend(note_records(on_tables, as_option))
    for text in others:
        note(text)


def as_option(parameter: Parameter) -> str:
    """A parameter of a note as an option.

    Examples
    --------
    >>> as_option(Parameter("dates", "first seen"))
    "--date 'first seen'"
    """
    from abnet.tables.note_sentences import OPTIONS

    name = OPTIONS.get(parameter.name, parameter.name).replace("_", "-")
    return f"--{name} {shlex.quote(str(parameter.value))}"


def recorded_notes() -> list[dict[str, Any]]:
    """The notes on tables of the running command as data: code, columns, rows, severity, example and text."""
    return list(_RECORDS)


def shown_notes() -> list[str]:
    """The notes of the running command, in order."""
    return list(_SHOWN)


def message(text: str) -> None:
    """Print a message on stderr: one line, or wrapped to the width of a terminal."""
    if sys.stderr.isatty():
        text = textwrap.fill(text, width(), subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    print(text, file=sys.stderr, flush=True)


def with_options(error: NamesParameters, options: frozenset[str]) -> str:
    """The text of an error or a warning, with its parameters spelled as options."""
    from abnet.cli.options import spelled

    return error.worded(lambda parameter: spelled(parameter, options))


def on_one_line(text: Any) -> str:
    """Text with every run of spaces and line breaks replaced by one space."""
    return " ".join(str(text).split())


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
    replacements = []
    for character in error.object[error.start : error.end]:
        escaped = character.encode("ascii", "backslashreplace").decode()
        replacements.append(_PLAIN.get(character, escaped))
    return "".join(replacements), error.end


# Results


def width(*, least: int = 40, most: int | None = None) -> int:
    """Columns of the terminal; 80 where there is none."""
    columns = max(shutil.get_terminal_size((80, 24)).columns, least)
    if most is None:
        return columns
    return min(columns, most)


def as_json(record: dict[str, Any]) -> None:
    """A record as indented JSON; what is not finite would not be JSON, and is an error."""
    print(json.dumps(record, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy numbers and paths as plain values."""
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def paragraph(text: str, *, end: str = "\n\n") -> None:
    """Text filled to the width of a page."""
    with page_width(width(most=100)):
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
    with page_width(width()):
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
    if size < 999_950:  # 999.95 kB and more would be rounded to 1000.0 kB
        return f"{size / 1e3:.1f} kB"
    return f"{size / 1e6:,.1f} MB"


def replaced(older: bool) -> str:
    """What to add about a file that was there before."""
    if older:
        return ", replacing an older file"
    return ""


def indented(text: str, *, name: str = "", indent: int = 13) -> None:
    """A line of facts, filled: the name, if any, stands to the left of it."""
    if name:
        first_line = name.ljust(indent)
        other_lines = " " * indent
    else:
        first_line = "  "
        other_lines = "    "
    print(
        textwrap.fill(
            f"{first_line}{text}",
            width(most=100),
            subsequent_indent=other_lines,
            break_on_hyphens=False,
            break_long_words=False,
        )
    )
