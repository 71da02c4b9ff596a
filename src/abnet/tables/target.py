"""The target column: labels as in the file, rows without a label, and numeric targets that are not classes."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.split import Split, row_hashes
from abnet.tables.cells import DOUBTFUL, is_blank, to_number, to_text
from abnet.tables.frames import Table, as_table
from abnet.tables.named_columns import cell_texts
from abnet.tables.notes import Note
from abnet.tables.number_forms import PLAIN
from abnet.tables.table_errors import TableError, UnknownColumnError, listed, quoted
from abnet.utils.caller_rows import without_column
from abnet.utils.errors import NamesParameters, Parameter, ParameterError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = [
    "Binning",
    "FeaturesAndLabels",
    "MOST_CLASSES",
    "NoClassesError",
    "bin_names",
    "label_codes",
    "label_places",
    "labelled",
    "split_target",
    "true_labels",
    "typed_labels",
]

MOST_CLASSES = 100
"""More are no classes but a quantity, or an id."""
_MANY = 20
"""Different numbers from which on they may be a quantity."""
_EACH = 10
"""Rows of a class, on average, below which many numbers are a quantity."""
_FRACTIONS = 10
"""Different numbers with decimals that may still be classes."""


class NoClassesError(NamesParameters, TableError):
    """The target column does not contain classes."""


class FeaturesAndLabels(NamedTuple):
    """Features (a frame of the library that the table came in), labels, and notes on the labels."""

    X: Any
    y: NDArray[Any]
    notes: tuple[Note, ...]


def split_target(frame: Any, column: str, *, missing_label: str = "drop", typed: bool = True) -> FeaturesAndLabels:
    """Split a table into features and labels; rows without a label are left out, with a note that counts them.

    Text becomes numbers or booleans as in `typed_labels`; Parquet keeps its types. White space around text is stripped.
    If one number is written in several ways (``1``, ``1.0``, ``1.00``), a note says so. Empty cells and ``nan``,
    ``null``, ``<NA>``, ``#N/A`` are missing labels; ``NA`` or ``None`` may be a class.

    Parameters
    ----------
    frame : frame of Polars or pandas, or record of columns
    column : str
        Name of the column with the labels.
    missing_label : {"drop", "error"}
        What to do with rows without a label.
    typed : bool
        Whether text becomes numbers or booleans where all labels are such. If rows of this table are held out, their
        labels must not decide on that: `typed_labels` does it afterwards, with the labels of the training rows.

    Returns
    -------
    FeaturesAndLabels
        ``X``, the other columns in their order; ``y``, the labels (n,); ``notes``.

    Raises
    ------
    UnknownColumnError
        If there is no such column.
    NoClassesError
        If there is only one class or more than a hundred, if nearly every row has its own class, or if the target is a
        numeric quantity.
    TableError
        If there is no other column, or if a label is missing and `missing_label` is "error".

    Examples
    --------
    >>> X, y, notes = split_target({"age": ["39", "50", "61", "7"], "rich": ["1", "0", "1.0", ""]}, "rich")
    >>> X, y.tolist(), [note.code for note in notes]
    ({'age': ['39', '50', '61']}, [1, 0, 1], ['missing labels', 'one number'])
    """
    table = as_table(frame)
    _check_column(table, column)
    if len(table.columns) == 1:
        raise TableError(f"{column!r} is the only column; the table needs at least one other to predict it from.")
    blank = _blank_rows(table, column)
    notes: tuple[Note, ...] = ()
    if blank.any():
        _refuse_missing(table, column, blank, missing_label)
        notes = (Note("missing labels", (column,), int(blank.sum())),)
        frame = _rows_of(frame, ~blank)
        table = as_table(frame)
    y, more = _labels(table, column, typed)
    return FeaturesAndLabels(without_column(frame, column), y, (*notes, *more))


def _check_column(table: Table, column: str) -> None:
    if column in table.columns:
        return
    close = difflib.get_close_matches(column, list(table.columns), n=3)
    spelled = ascii if _composed(column) in map(_composed, close) else repr  # look alike
    hint = f" Did you mean {' or '.join(map(spelled, close))}?" if close else ""
    raise UnknownColumnError(f"no column {column!r} in the table.{hint} Its columns are {listed(table.columns)}.")


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _blank_rows(table: Table, column: str) -> NDArray[np.bool_]:
    distinct = table.cells(column).distinct()
    rows = np.array(distinct.counts())
    blank = np.array([is_blank(value) and bool(count) for value, count in zip(distinct.values, rows, strict=True)])
    return blank[distinct.codes] if blank.any() else np.zeros(table.n_rows, bool)


def _refuse_missing(table: Table, column: str, blank: NDArray[np.bool_], missing_label: str) -> None:
    if missing_label not in ("drop", "error"):
        raise ParameterError("{} must be 'drop' or 'error'; got {!r}.", Parameter("missing_label"), missing_label)
    if missing_label == "error":
        raise TableError(
            f"column {column!r}: {number_of(int(blank.sum()), 'row')} without a label, the first is "
            f"{table.row(int(blank.argmax()))}; fill in the labels, or remove these rows."
        )
    if blank.all():
        raise TableError(f"column {column!r} has no label in any of {number_of(len(blank), 'row')}.")


def _rows_of(frame: Any, mask: NDArray[np.bool_]) -> Any:
    if isinstance(frame, Mapping):
        rows = np.flatnonzero(mask)
        return {
            name: values[mask] if isinstance(values, np.ndarray) else [values[row] for row in rows]
            for name, values in frame.items()
        }
    return frame[mask] if hasattr(frame, "iloc") else frame.filter(mask)


def labelled(
    frames: "Iterable[polars.DataFrame]", column: str, missing_label: str = "drop"
) -> "Iterator[polars.DataFrame]":
    """Frames without the rows that have no label; with ``missing_label="error"`` the first of them is an error.

    Examples
    --------
    >>> import polars as pl
    >>> [frame.height for frame in labelled([pl.DataFrame({"y": ["a", "", None, "b"]})], "y")]
    [2]
    """
    before = 0
    for frame in frames:
        table = as_table(frame, before=before)
        _check_column(table, column)
        blank = _blank_rows(table, column)
        if blank.any() and missing_label == "error":
            _refuse_missing(table, column, blank, missing_label)
        before += frame.height
        yield frame.filter(~blank) if blank.any() else frame


def label_codes(table: Table, column: str, classes: Sequence[Any]) -> NDArray[np.intp]:
    """The code of every row's label among K known classes; K for any other label, -1 for a missing one.

    Parameters
    ----------
    table : Table
    column : str
    classes : sequence
        As `split_target` found them in some rows of the table.

    Examples
    --------
    >>> label_codes(as_table({"rich": ["1", "0", "1.0", "very"]}), "rich", [0, 1]).tolist()
    [1, 0, 1, 2]
    """
    _check_column(table, column)
    distinct = table.cells(column).distinct()
    return label_places(distinct.values, classes)[distinct.codes]


def label_places(labels: Iterable[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """The place of each label among K classes, as text or as a number; K for any other label, -1 for a missing one.

    Examples
    --------
    >>> label_places(["1", "0", "1.0", "very", ""], [0, 1]).tolist()
    [1, 0, 1, 2, -1]
    """
    known = {to_text(label): place for place, label in enumerate(classes)}
    return np.array([_code(label, known) for label in labels], np.intp)


def _code(value: Any, known: Mapping[str, int]) -> int:
    """The place of a label; -1 if it is missing, K if it is unknown. A number may be written in several ways."""
    text = to_text(value)
    if is_blank(value) or text in known or not re.fullmatch(_NUMBER, text):
        return -1 if is_blank(value) else known.get(text, len(known))
    numbers = {float(name): place for name, place in known.items() if re.fullmatch(_NUMBER, name)}
    return numbers.get(float(text), len(known))


_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?"


def _labels(table: Table, column: str, typed: bool) -> tuple[NDArray[Any], tuple[Note, ...]]:
    distinct = table.cells(column).distinct()
    rows = np.array(distinct.counts())
    present = np.flatnonzero(rows)
    written = _written([distinct.values[place] for place in present.tolist()])
    converted, alike = typed_labels(written)
    notes: tuple[Note, ...] = (Note("one number", (column,), facts={"alike": alike}),) if alike else ()
    classes, places = np.unique(converted, return_inverse=True)
    counts = np.zeros(len(classes), np.intp)
    np.add.at(counts, places, rows[present])
    _refuse_no_classes(column, classes, counts)
    if converted.dtype.kind == "U":
        from abnet.tables.doubts import label_doubts

        notes = (*notes, *label_doubts(dict(zip(classes.tolist(), counts.tolist(), strict=True)), column))
    labels = converted if typed else written
    lookup = np.zeros(len(distinct.values), labels.dtype)
    lookup[present] = labels
    return lookup[distinct.codes], notes


def _refuse_no_classes(column: str, classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    """Raise an error for a numeric quantity, a single class, more than a hundred classes, or nearly one class per
    row."""
    n, rows = len(classes), int(counts.sum())
    if n > 2 and _is_quantity(classes, rows):
        raise NoClassesError(
            "column {!r} looks like a regression target ({} distinct numbers); abnet classifies. Bin it with {} "
            "(quartiles), or choose another column.",
            column, n, Parameter("bins", 4),
        )  # fmt: skip
    if not 2 <= n <= MOST_CLASSES:
        raise NoClassesError("{}", _wrong_number(column, classes.tolist(), counts.tolist()))
    if n > _FRACTIONS and rows < 2 * n:
        raise NoClassesError(
            "column {!r} has {} classes in {}, such as {}: most classes have a single row, which is too little to "
            "learn them; choose another column, or merge classes.",
            column, n, number_of(rows, "row"), _label(classes.tolist()[0]),
        )  # fmt: skip


def _is_quantity(classes: NDArray[Any], rows: int) -> bool:
    """Whether labels are numbers that measure something: many, with few rows each, or with decimals.

    Examples
    --------
    >>> _is_quantity(np.arange(60), 200), _is_quantity(np.arange(26), 20_000), _is_quantity(np.array([0.5, 1.0]), 90)
    (True, False, False)
    """
    numbers = _as_numbers(classes)
    if numbers is None:
        return False
    if np.any(numbers != np.rint(numbers)):
        return len(numbers) > _FRACTIONS
    return len(numbers) > MOST_CLASSES or (len(numbers) > _MANY and rows < _EACH * len(numbers))


def _as_numbers(classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Labels as numbers, if all are."""
    if classes.dtype.kind in "iuf":
        return classes.astype(np.float64)
    numbers = [to_number(label) for label in classes.tolist()] if classes.dtype.kind == "U" else [None]
    if any(number is None or not np.isfinite(number) for number in numbers):
        return None
    return np.array(numbers, np.float64)


def _written(values: list[Any]) -> NDArray[Any]:
    """Labels of one plain type as they are; any others as text."""
    if {type(value) for value in values} in ({bool}, {int}, {float}):
        return np.array(values)
    return np.array([to_text(value) for value in values])


def typed_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Labels with the type that all of them have, and the texts that write one number in several ways, in words.

    Text becomes integers or booleans if these are written back as the same text (``1``, ``True``, but neither ``01``
    nor ``true``), and numbers if one number is written in several ways (``1`` and ``1.0``).

    Examples
    --------
    >>> typed_labels(np.array(["9", "10"])), typed_labels(np.array(["9", "10", "zz"]))
    ((array([ 9, 10]), ''), (array(['9', '10', 'zz'], dtype='<U2'), ''))
    >>> typed_labels(np.array(["1", "1.0", "0"]))
    (array([1, 1, 0]), "'1' and '1.0'")
    """
    if labels.dtype.kind != "U":
        return labels, ""
    texts = labels.tolist()
    if set(texts) <= {"True", "False"}:
        return labels == "True", ""
    if all(_is_plain_integer(text) for text in texts):
        return np.array([int(text) for text in texts], np.int64), ""
    same = _same_number(texts)
    if not same:
        return labels, ""
    if not all(re.fullmatch(_NUMBER, text) for text in texts):
        return np.array([to_text(float(text)) if re.fullmatch(_NUMBER, text) else text for text in texts]), same
    numbers = np.array([float(text) for text in texts])
    whole = bool((numbers == np.trunc(numbers)).all() and (np.abs(numbers) < 2**53).all())
    return numbers.astype(np.int64) if whole else numbers, same


def _same_number(texts: list[str]) -> str:
    """Different texts of one number, in words; empty if there are none."""
    written: dict[float, list[str]] = {}
    for text in sorted({text for text in texts if re.fullmatch(_NUMBER, text)}, key=lambda text: (len(text), text)):
        written.setdefault(float(text), []).append(text)
    return next((" and ".join(map(repr, same)) for same in written.values() if len(same) > 1), "")


def _is_plain_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18 and str(int(text)) == text


def _label(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _wrong_number(column: str, classes: Sequence[Any], counts: Sequence[int]) -> str:
    order = np.argsort(counts, kind="stable")[::-1][:5]
    shown = ", ".join(f"{_label(classes[i])} ({number_of(int(counts[i]), 'row')})" for i in order)
    more = f" and {len(classes) - 5} more" if len(classes) > 5 else ""
    doubtful = [text for text in map(str, classes) if text.lower() in DOUBTFUL]
    hint = (
        f"; if {doubtful[0]!r} stands for a missing label, remove these rows" if doubtful and len(classes) > 2 else ""
    )
    number = "only one class" if len(classes) == 1 else f"{len(classes)} classes"
    return f"column {column!r} has {number}, but 2 to {MOST_CLASSES} are needed: {shown}{more}{hint}."


_ASIDE = 0.2
_ENOUGH_ASIDE = 1000


@dataclass(frozen=True)
class Binning:
    """Classes of a numeric target: below the first cut point, between two, and from the last one on.

    Given cut points define the classes before any row is seen. Quantiles depend on labels, so they are computed from
    rows that are set aside (a fifth, at most a thousand) and used neither for training nor for the certificate: the
    bound rows of a certificate must not influence its classes.

    Attributes
    ----------
    column : str
    cuts : tuple of float
        Increasing.
    aside : array of bool (n,) or None
        Which rows of the table are set aside.

    Examples
    --------
    >>> Binning("y", (10.0, 20.0)).names
    ('below 10', '10 to 20', '20 or above')
    """

    column: str
    cuts: tuple[float, ...]
    aside: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls, read: "Callable[[], Iterable[polars.DataFrame]]", column: str, bins: int | Sequence[float], seed: int
    ) -> "Binning":
        """The binning of a table by a number of quantiles, or by cut points.

        Parameters
        ----------
        read : callable
            Gives the frames of the table, from the first on, whenever it is called.
        column : str
        bins : int or sequence of float
        seed : int
            Chooses the rows that are set aside.
        """
        if not isinstance(bins, int):
            cuts = tuple(float(cut) for cut in bins)
            if not cuts or not np.isfinite(cuts).all() or any(a >= b for a, b in pairwise(cuts)):
                raise ParameterError("{} must be a number of classes or increasing cut points.", Parameter("bins"))
            return cls(column, cuts)
        if isinstance(bins, bool) or not 2 <= bins <= _FRACTIONS:
            raise ParameterError("{} must be from 2 to {}; got {!r}.", Parameter("bins"), _FRACTIONS, bins)
        labels, hashes = [], []
        for frame in read():
            labels.append(_quantities(as_table(frame), column))
            hashes.append(row_hashes(frame))
        y = np.concatenate(labels)
        share = min(_ASIDE, _ENOUGH_ASIDE / max(len(y), 1))
        aside = np.zeros(len(y), bool)
        aside[Split.of(np.concatenate(hashes), share, seed).first] = True
        known = y[aside & ~np.isnan(y)]
        found = np.unique(np.quantile(known, np.arange(1, bins) / bins)) if len(known) else np.zeros(0)
        found = found[found > known.min()] if len(known) else found
        if not len(found):
            raise TableError(f"column {column!r} has too few different numbers to be cut into {bins} classes.")
        return cls(column, tuple(float(f"{cut:.6g}") for cut in found), aside)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the classes, in their order."""
        return bin_names(self.cuts)

    @property
    def note(self) -> Note:
        """What was done."""
        cuts = ", ".join(map(_cut_text, self.cuts))
        n = None if self.aside is None else int(self.aside.sum())
        return Note("cut" if n is None else "binned", (self.column,), n, facts={"bins": len(self.names), "cuts": cuts})

    def frames(self, frames: "Iterable[polars.DataFrame]") -> "Iterator[polars.DataFrame]":
        """Frames with classes in place of numbers, without the rows that were set aside; a number may be missing."""
        import polars as pl

        start, names = 0, np.array([*self.names, ""], object)
        for frame in frames:
            codes = _bins(_quantities(as_table(frame, before=start), self.column), self.cuts)
            made = frame.with_columns(pl.Series(self.column, names[codes].tolist(), pl.String))
            kept = None if self.aside is None else ~self.aside[start : start + frame.height]
            start += frame.height
            yield made if kept is None else made.filter(kept)


def bin_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """The labels of the classes between cut points, in their order; a cut point belongs to the class above it.

    Examples
    --------
    >>> bin_names([10.0]), bin_names([0.5, 1234567.25])
    (('below 10', '10 or above'), ('below 0.5', '0.5 to 1234567.25', '1234567.25 or above'))
    """
    texts = list(map(_cut_text, cuts))
    return (f"below {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"{texts[-1]} or above")


def _cut_text(cut: float) -> str:
    short = f"{cut:g}"
    return short if float(short) == cut else repr(cut)


def _bins(x: NDArray[np.float64], cuts: Sequence[float]) -> NDArray[np.intp]:
    """The place of each number's class; that of none for NaN."""
    return np.where(np.isnan(x), len(cuts) + 1, np.searchsorted(cuts, x, side="right"))


def true_labels(table: Table, column: str, cuts: Sequence[float] = ()) -> list[str | None]:
    """Labels of a table as text, None where they are missing, for a model that exists already.

    Parameters
    ----------
    table : Table
    column : str
    cuts : sequence of float
        Where the model's target was cut into classes; numbers then become the labels of these classes. The table may
        also hold these labels themselves.

    Examples
    --------
    >>> true_labels(as_table({"price": ["9.5", "10", "", "below 10"]}), "price", [10.0])
    ['below 10', '10 or above', None, 'below 10']
    """
    texts = cell_texts(table, column)
    if not cuts:
        return texts
    x, _ = table.cells(column).numbers(PLAIN)
    names = bin_names(cuts)
    codes = _bins(np.where(np.isfinite(x), x, np.nan), cuts).tolist()
    return [names[code] if code < len(names) else text for code, text in zip(codes, texts, strict=True)]


def _quantities(table: Table, column: str) -> NDArray[np.float64]:
    """The numbers of a target; an error for a column that holds something else."""
    _check_column(table, column)
    cells = table.cells(column)
    x, strange = cells.numbers(PLAIN)
    x = np.where(np.isfinite(x), x, np.nan)
    if strange.any() and 2 * np.count_nonzero(strange) > np.count_nonzero(strange | ~np.isnan(x)):
        example = quoted(cells.cell(int(strange.argmax())))
        raise NoClassesError(
            "column {!r} holds text such as {}, which {} cannot cut into classes.", column, example, Parameter("bins")
        )
    return x
