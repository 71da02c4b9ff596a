"""The training rows of a table: all rows of a table that fits into memory, or a random choice of a larger one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.tables.binning import Binning
from abnet.tables.notes import Note
from abnet.tables.polars_frames import stacked
from abnet.tables.target import FeaturesAndLabels, labelled, split_target

if TYPE_CHECKING:
    import polars

__all__ = ["TrainingPart", "choose_training_part"]


@dataclass(frozen=True)
class TrainingPart:
    """The training rows of a table.

    Attributes
    ----------
    X, y, notes
        As returned by `split_target`; if all rows are in memory, text labels remain text, because some of these rows
        will be held out.
    n_rows : int
        Number of labelled rows of the whole table.
    learns : array of bool (n_rows,) or None
        Whether each labelled row is a training row; None if all rows are in memory.
    frames : callable or None
        Reads all labelled rows again, in the order of `learns`.
    cuts : tuple of float
        Points at which a numeric target was cut into classes, if it was.
    """

    X: "polars.DataFrame"
    y: NDArray[Any]
    notes: tuple[Note, ...]
    n_rows: int
    learns: NDArray[np.bool_] | None = None
    frames: "Callable[[], Iterator[polars.DataFrame]] | None" = None
    cuts: tuple[float, ...] = ()

    @property
    def n_unlabelled(self) -> int:
        """Number of rows that were left out because they have no label."""
        return sum(note.rows or 0 for note in self.notes if note.code == "missing labels")


def choose_training_part(
    read: "Callable[[], Iterable[polars.DataFrame]]",
    target: str,
    *,
    max_learn_rows: int,
    share: float,
    seed: int,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
) -> TrainingPart:
    """The whole table if it has at most `max_learn_rows` rows, otherwise a random choice of training rows.

    A larger table is read twice: once for the hashes of its rows (`row_hashes`; this temporarily takes 40 bytes per
    row), and once for the training rows. The same rows and seed give the same choice, in any order of the rows.

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
        Cut a numeric target into classes (`abnet.tables.binning.Binning`).
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
        return TrainingPart(X, y, (*notes, *label_notes), len(y), cuts=cuts)

    hashes, n_unlabelled = _hashes_of_labelled(chain(_emptied(first), frames), target, missing_label)
    is_training = np.zeros(len(hashes), np.bool_)
    is_training[Split.of(hashes, share, seed, most=max_learn_rows).first] = True
    if n_unlabelled:
        notes = (*notes, Note("missing labels", (target,), n_unlabelled))

    def labelled_frames() -> "Iterator[polars.DataFrame]":
        return labelled(read_classes(), target)

    X, y, label_notes = _chosen(labelled_frames(), target, is_training)
    return TrainingPart(X, y, (*notes, *label_notes), len(is_training), is_training, labelled_frames, cuts)


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
    frames: "Iterable[polars.DataFrame]", target: str, missing_label: str
) -> tuple[NDArray[Any], int]:
    """The hashes of the rows that have a label, and the number of the other rows."""
    n_rows = 0

    def counted() -> "Iterator[polars.DataFrame]":
        nonlocal n_rows
        for frame in frames:
            n_rows += frame.height
            yield frame

    hashes = np.concatenate([row_hashes(frame) for frame in labelled(counted(), target, missing_label)])
    return hashes, n_rows - len(hashes)


def _chosen(frames: "Iterable[polars.DataFrame]", target: str, is_training: NDArray[np.bool_]) -> FeaturesAndLabels:
    """Features and labels of the training rows."""
    kept = []
    start = 0
    for frame in frames:
        end = start + frame.height
        kept.append(frame.filter(is_training[start:end]))
        start = end
    whole = stacked(kept).rechunk()
    kept.clear()
    return split_target(whole, target)


def _emptied(frames: list[Any]) -> Iterator[Any]:
    """The items of a list, each removed before it is used, so that its memory can be freed after it."""
    while frames:
        yield frames.pop(0)
