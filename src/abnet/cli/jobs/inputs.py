"""What the jobs start from and where they may write.

A classifier from the options of a command, labelled rows from a file, parts of them; outputs that never replace an
input, and an older file only if it is of the same kind.
"""

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import check_writable
from abnet.cli.console import UsageError
from abnet.words import number_of

if TYPE_CHECKING:
    from abnet.tables import Note
    from abnet.tables.reading import Learning

__all__ = [
    "Labelled",
    "check_output",
    "check_use",
    "cell_texts",
    "described",
    "in_options",
    "kind_of_file",
    "label_text",
    "make_estimator",
    "read_labelled",
    "take",
    "take_groups",
    "two_random_parts",
    "usual_models",
    "without_group",
]


def make_estimator(settings: dict[str, Any], *, preprocessor: Any = None, verbose: bool = False) -> Any:
    """An unfitted classifier; options that it would refuse are wrong use, found before any file is read."""
    from abnet import CertifiedClassifier

    classifier = CertifiedClassifier(**settings, preprocessor=preprocessor, verbose=int(verbose))
    classifier._check_parameters()
    return classifier


class Labelled(NamedTuple):
    """Features, as a frame or an array, labels, and groups if the rows come in groups."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None = None


def take(data: Labelled, rows: Any) -> Labelled:
    """Some rows of a labelled table or array."""
    from abnet.estimators.classifier import take_rows

    groups = None if data.groups is None else data.groups[rows]
    return Labelled(take_rows(data.X, rows), data.y[rows], groups)


def two_random_parts(data: Labelled, fraction: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of about ``fraction · n`` rows by what they hold, and of the rest; of whole groups, if there are any."""
    from abnet.certificates.split import Split, row_hashes

    split = Split.of(row_hashes(data.X, data.y), fraction, seed, data.groups)
    return split.first, split.counted


def cell_texts(frame: Any, column: str) -> list[str | None]:
    """Cells of a column of a `Table` as text, None where they are missing; one number has one text."""
    from abnet.tables.cells import is_blank, to_text

    found = frame.cells(column).distinct()
    texts = [None if is_blank(value) else label_text(to_text(value)) for value in found.values]
    return [texts[code] for code in found.codes.tolist()]


def label_text(text: str) -> str:
    """The text of a label: ``1``, ``1.0`` and ``1.00`` are one label.

    Examples
    --------
    >>> label_text("1.00"), label_text("yes"), label_text("2.5")
    ('1', 'yes', '2.5')
    """
    from abnet.tables.cells import to_number, to_text

    number = to_number(text)
    return text if number is None or not np.isfinite(number) else to_text(number)


def usual_models(seed: int) -> dict[str, Any]:
    """What people use on tables today."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "random forest": RandomForestClassifier(300, n_jobs=-1, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(random_state=seed),
        "logistic regression": LogisticRegression(max_iter=1000),
    }


def take_groups(part: "Learning", group: str | None) -> "tuple[Learning, NDArray[Any] | None]":
    """The rows without the column that names their groups, and that column; nothing changes without a name.

    Raises
    ------
    UsageError
        If there is no such column, or the table is too large to be in memory.
    TableError
        If a row has no group.
    """
    from dataclasses import replace

    from abnet.tables import TableError
    from abnet.tables.cells import listed
    from abnet.tables.frames import as_table

    if group is None:
        return part, None
    if group not in part.X.columns:
        raise UsageError(f"--group: no column {group!r} in the table; its columns are {listed(part.X.columns)}.")
    if part.learns is not None:
        raise UsageError("--group takes all rows into memory, and the table has more than --max-learn-rows allows.")
    table = as_table(part.X)
    names = cell_texts(table, group)
    missing = [table.row(row) for row, name in enumerate(names) if name is None]
    if missing:
        raise TableError(f"column {group!r}: {without_group(missing)}")
    return replace(part, X=part.X.drop(group)), np.array(names)


def without_group(rows: Sequence[str]) -> str:
    """What is wrong with rows that have no group, some of them named.

    Examples
    --------
    >>> without_group(["row 3", "row 8"])
    '2 rows without a group (row 3, row 8); every row needs one, if only its own.'
    """
    named = ", ".join(rows[:5]) + (", …" if len(rows) > 5 else "")
    return f"{number_of(len(rows), 'row')} without a group ({named}); every row needs one, if only its own."


def read_labelled(source: Any, target: str, *, drop: Sequence[str] = (), at_least: int, **limits: Any) -> "Learning":
    """Read a table and take the target out of it; of a large one, the rows that learn.

    Parameters
    ----------
    source : TableSource
    target : str
        Column with the labels.
    drop : sequence of str
        Columns to leave out.
    at_least : int
        Rows that the job needs to split the table.
    **limits
        ``max_learn_rows``, ``share`` and ``seed``, as in `abnet.estimators.large_tables.learning_part`.

    Raises
    ------
    UsageError
        If a column that was named is not in the table.
    TableError
        If the table itself is of no use.
    """
    from abnet.tables import TableError
    from abnet.tables.cells import UnknownColumnError
    from abnet.tables.reading import learning_part, without

    if target in drop:
        raise UsageError(f"--drop: {target!r} is the target, which cannot be dropped.")
    try:
        part = learning_part(lambda: without(source.frames(), drop), target, **limits)
    except UnknownColumnError as error:
        option = "" if str(error).startswith("drop: ") else "target: "
        raise UsageError(f"--{option}{error}") from error
    if part.n_rows < at_least:
        raise TableError(
            f"the table has {number_of(part.n_rows, 'row')}, too few to learn from one part and certify on another; "
            f"at least {at_least} are needed."
        )
    return part


def check_use(use: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a column to use that is not there."""
    from abnet.tables.cells import listed

    unknown = [name for name in use if name not in names]
    if unknown:
        raise UsageError(f"--use: no column {listed(unknown)} in the table; its columns are {listed(names)}.")


def in_options(note: "Note") -> str:
    """A note in the words of the command line.

    Examples
    --------
    >>> from abnet.tables import Note
    >>> in_options(Note("row id", "is left out: it has no name; use='row id' takes it in"))
    "column 'row id' is left out: it has no name; --use 'row id' takes it in"
    """
    return str(note).replace(f"use={note.column!r} takes", _use(note.column))


def described(column: str, line: str) -> str:
    """A line of `TableMap.describe` in the words of the command line."""
    return line.replace(f"use={column!r} takes", _use(column))


def _use(column: str) -> str:
    return f"--use {shlex.quote(column)} takes"


MODEL, CSV, HTML, OTHER = "model", "CSV", "HTML", "other"
EXPORTED = {"c": "exported C", "onnx": "exported ONNX"}
"""Kinds of files by what `abnet export --to` is told."""
_BEGINNINGS = {b"{": "JSON", b"\x89PNG": "picture", b"<?xml": "picture", b"<svg": "picture", b"%PDF": "picture"}
_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


def check_output(
    output: Path, kind: str, *, inputs: Iterable[Path] = (), overwrite: bool | None = None, option: str = "--output"
) -> None:
    """Refuse an output before anything is read.

    Parameters
    ----------
    output : path
    kind : {"model", "CSV", "JSON", "picture", "HTML", "exported C", "exported ONNX"}
        What will be written.
    inputs : iterable of path
        What the command reads; ``-`` is standard input.
    overwrite : bool, optional
        Whether an older file of another kind may be replaced; one of the inputs never is. None where nobody can ask.
    option : str
        The option that named it.

    Raises
    ------
    UsageError
        If the output is one of the inputs, by whatever spelling or link, or would replace a file of another kind.
    OSError
        If it cannot be written there.
    """
    for source in inputs:
        if _same_file(output, source):
            raise UsageError(f"{option}: {output} is {source}, which is read; name another file.")
    check_writable(output)
    if output.exists() and not overwrite and kind_of_file(output) not in (kind, ""):
        ask = "" if overwrite is None else ", or add --overwrite"
        raise UsageError(f"{option}: {output} exists and is no {kind} file; name another{ask}.")


def _same_file(first: Path, second: Path) -> bool:
    if os.fspath(second) == "-":
        return False
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def kind_of_file(path: Path) -> str:
    """What a file holds: "model", "CSV", "JSON", "picture", "HTML", an export, "other", or nothing at all ("").

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("x,y")
    >>> kind_of_file(path)
    'CSV'
    """
    with path.open("rb") as file:
        start = file.read(1 << 16)
        if not start:
            return ""
        if _is_model(start[:8], path.stat().st_size) and _says_abnet(start[8:] + file.read(_header_size(start))):
            return MODEL
    if start.startswith(b"/*\n * A classifier written by abnet"):
        return EXPORTED["c"]
    if b"\x12\x05abnet" in start[:16]:  # the producer of a ModelProto
        return EXPORTED["onnx"]
    if start[:200].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return HTML
    for beginning, kind in _BEGINNINGS.items():
        if start.startswith(beginning):
            return kind
    text = path.name.lower().endswith(_ENDINGS) or start.startswith(b"prediction")
    return CSV if text and (start.startswith(b"\x1f\x8b") or b"\0" not in start) else OTHER


def _header_size(start: bytes) -> int:
    return int.from_bytes(start[:8], "little")


def _is_model(start: bytes, size: int) -> bool:
    """Whether a length of a header that fits into the file comes first, as in safetensors."""
    return len(start) == 8 and _header_size(start) <= size - 8


def _says_abnet(header: bytes) -> bool:
    try:
        record, _ = json.JSONDecoder().raw_decode(header.decode("utf-8", "ignore"))
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("__metadata__", {}).get("format") == "abnet"
