"""`load_rows`: a table in memory, or the training rows of a larger one with a source of its other rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.row_hashing import hashes_with_labels, sums_of_cells
from abnet.certificates.split import Split, warn_of_few_rows
from abnet.tables.held_out_rows import HeldOutRows
from abnet.tables.label_types import sorted_as_typed
from abnet.tables.named_columns import check_named
from abnet.tables.notes import Note
from abnet.tables.polars_frames import stacked
from abnet.tables.table import as_table
from abnet.tables.target import FeaturesAndLabels, labelled, labels_as_written, split_target
from abnet.tables.target_bins import Binning
from abnet.tables.times import Times, read_times
from abnet.utils.caller_rows import without_column
from abnet.utils.label_values import label_values
from abnet.utils.permutation import places_in

if TYPE_CHECKING:
    import polars

__all__ = ["LoadedRows", "load_rows"]


@dataclass(frozen=True)
class LoadedRows:
    """The rows of a table that are in memory: all of them, or the training rows of a larger table.

    Attributes
    ----------
    X, y, notes
        As returned by `split_target`. Text labels remain text: the training rows decide on their type.
    n_rows : int
        Number of labelled rows of the whole table.
    held_out : HeldOutRows or None
        The other rows of a larger table; None if all rows are in memory.
    times : Times or None
        When each row in memory was recorded, if the rows are to be split by time.
    cuts : tuple of float
        Points at which a numeric target was cut into classes, if it was.
    """

    X: "polars.DataFrame"
    y: NDArray[Any]
    notes: tuple[Note, ...]
    n_rows: int
    held_out: HeldOutRows | None = None
    cuts: tuple[float, ...] = ()
    times: Times | None = None

    @property
    def n_unlabelled(self) -> int:
        """Number of rows that were left out because they have no label."""
        return sum(note.rows or 0 for note in self.notes if note.code == "missing labels")


def load_rows(
    read: "Callable[[], Iterable[polars.DataFrame]]",
    target: str,
    *,
    max_learn_rows: int,
    share: float,
    seed: int,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    time: str | None = None,
) -> LoadedRows:
    """Load a table of at most `max_learn_rows` rows whole, and of a larger table the training rows.

    A larger table is read twice: once for the hashes of its rows (`abnet.certificates.split`; this temporarily takes 50
    bytes per row), and once for the training rows. The split is that of a table in memory: it depends on the rows, the
    share and the seed, in any order of the rows.

    Parameters
    ----------
    read : callable
        Returns the frames of the table, from the first on, at every call.
    target : str
    max_learn_rows : int
    share : float
        Fraction of the rows of a larger table to train on, up to `max_learn_rows`.
    seed : int
    missing_label : {"drop", "error"}
        What to do with rows without a label.
    bins : int or sequence of float, optional
        Cut a numeric target into classes (`abnet.tables.target_bins.Binning`).
    time : str, optional
        Column with the times, for a split by time; it is taken out of the rows.
    """
    if not 0 < share < 1 or max_learn_rows < 1:
        raise ValueError(f"share must lie between 0 and 1, max_learn_rows be 1 or more; got {share}, {max_learn_rows}.")
    notes: tuple[Note, ...] = ()
    cuts: tuple[float, ...] = ()
    read_classes = read  # the frames with classes as their target
    if bins is not None:
        binning = Binning.of(read, target, bins, seed)
        notes = (binning.note,)
        cuts = binning.cuts
        read_classes = partial(_binned, read, binning)
    frames = iter(read_classes())
    first = _first_frames(frames, max_learn_rows)
    if sum(frame.height for frame in first) <= max_learn_rows:
        whole = stacked(first)  # in pieces: to copy all text takes longer than to read half of it
        first.clear()
        X, y, label_notes = split_target(whole, target, missing_label=missing_label, typed=False)
        X, times = _without_times(X, time)
        return LoadedRows(X, y, (*notes, *label_notes), len(y), cuts=cuts, times=times)

    hashes, times, n_unlabelled = _hashes_of_labelled(chain(_emptied(first), frames), target, missing_label, time)
    share = min(share, max_learn_rows / len(hashes))
    if times is None:
        split = Split.of(hashes, share, seed)
    else:
        split = Split.by_time(hashes, times.values, share, seed, most=max_learn_rows)
    warn_of_few_rows(hashes[split.first])
    del hashes
    if n_unlabelled:
        notes = (*notes, Note("missing labels", (target,), n_unlabelled))

    def labelled_frames() -> "Iterator[polars.DataFrame]":
        return labelled(read_classes(), target)

    held_out = HeldOutRows.of(labelled_frames, target, split, share, times)
    X, y, label_notes = _training_rows(labelled_frames(), target, held_out.is_training)
    X, _ = _without_times(X, time)
    return LoadedRows(X, y, (*notes, *label_notes), held_out.n_rows, held_out, cuts)


def _without_times(X: "polars.DataFrame", time: str | None) -> "tuple[polars.DataFrame, Times | None]":
    """Take the column of the times out of the rows, and read it."""
    if time is None:
        return X, None
    check_named("time", [time], X.columns)
    return X.drop(time), read_times(X[time], time)


def _binned(read: "Callable[[], Iterable[polars.DataFrame]]", binning: Binning) -> "Iterable[polars.DataFrame]":
    """The frames of a table, with classes in place of the numbers of its target."""
    return binning.frames(read())


def _first_frames(frames: "Iterator[polars.DataFrame]", max_rows: int) -> "list[polars.DataFrame]":
    """Frames up to the first one with which there are more than `max_rows` rows."""
    first = []
    n_rows = 0
    for frame in frames:
        first.append(frame)
        n_rows += frame.height
        if n_rows > max_rows:
            break
    return first


def _hashes_of_labelled(
    frames: "Iterable[polars.DataFrame]", target: str, missing_label: str, time: str | None
) -> tuple[NDArray[np.uint64], Times | None, int]:
    """The hashes and times of the rows that have a label, as of a table in memory, and the number of other rows.

    What is hashed of a label is its place among all labels, which are known at the end.
    """
    n_rows = 0

    def counted() -> "Iterator[polars.DataFrame]":
        nonlocal n_rows
        for frame in frames:
            n_rows += frame.height
            yield frame

    label_numbers: dict[Any, int] = {}
    sums = []
    numbers = []
    columns = []
    for frame in labelled(counted(), target, missing_label):
        if time is not None:
            check_named("time", [time], frame.columns)
            columns.append(frame.select(time))
            frame = frame.drop(time)
        distinct = as_table(frame).cells(target).distinct()
        number_of_value = np.zeros(len(distinct.values), np.int32)
        for place in np.flatnonzero(distinct.counts()).tolist():
            number_of_value[place] = label_numbers.setdefault(distinct.values[place], len(label_numbers))
        numbers.append(number_of_value[distinct.codes])
        sums.append(sums_of_cells(without_column(frame, target)))
    codes, n_classes = _codes_of_labels(list(label_numbers))
    values = label_values(codes[np.concatenate(numbers)], n_classes)
    hashes = hashes_with_labels(np.concatenate(sums), values)
    times = None
    if time is not None:
        times = read_times(stacked(columns)[time], time)
    return hashes, times, n_rows - len(hashes)


def _codes_of_labels(labels: list[Any]) -> tuple[NDArray[np.intp], int]:
    """The place of each label among all labels, and the number of these."""
    classes, places = np.unique(labels_as_written(labels), return_inverse=True)
    return places_in(sorted_as_typed(classes))[places], len(classes)


def _training_rows(
    frames: "Iterable[polars.DataFrame]", target: str, is_training: NDArray[np.bool_]
) -> FeaturesAndLabels:
    """Features and labels of the training rows."""
    kept = []
    start = 0
    for frame in frames:
        end = start + frame.height
        kept.append(frame.filter(is_training[start:end]))
        start = end
    whole = stacked(kept).rechunk()
    kept.clear()
    return split_target(whole, target, typed=False)


def _emptied(frames: list[Any]) -> Iterator[Any]:
    """The items of a list, each removed before it is used, so that its memory can be freed after it."""
    while frames:
        yield frames.pop(0)
