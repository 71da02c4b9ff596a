"""The held-out rows of a table larger than memory, which are read in blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.split import Split
from abnet.tables.times import Times
from abnet.utils.permutation import places_in

if TYPE_CHECKING:
    import polars

__all__ = ["Block", "HeldOutRows"]


class Block(NamedTuple):
    """Neighbouring rows of a table.

    Attributes
    ----------
    frame : polars.DataFrame
    start : int
        Number of rows before the first.
    is_held_out : bool array (n,)
    keys : int array
        Positions of the held-out rows in the order for betting bounds.
    """

    frame: "polars.DataFrame"
    start: int
    is_held_out: NDArray[np.bool_]
    keys: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The rows of a large table that do not train, as blocks that can be read again and again.

    Attributes
    ----------
    read : callable
        Returns the frames of all labelled rows, from the first on, at every call.
    target : str
        Column with the labels.
    places : int array (n_rows,)
        Position of each row in the keyed order of the split: training rows first, then held-out rows.
    n_training : int
    share : float
        Share of the rows that train.
    period : str or None
        The held-out rows of a split by time, in words.
    times : float array or None
        Their times, in the order of the table.
    """

    read: "Callable[[], Iterator[polars.DataFrame]]"
    target: str
    places: NDArray[np.intp]
    n_training: int
    share: float
    period: str | None = None
    times: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        read: "Callable[[], Iterator[polars.DataFrame]]",
        target: str,
        split: Split,
        share: float,
        times: Times | None = None,
    ) -> "HeldOutRows":
        """The second part of a split."""
        places = places_in(np.concatenate([split.first, split.counted]))
        period = None
        later = None
        if times is not None and split.latest is not None:
            period = times.after(split.latest)
            later = times.values[times.values > split.latest]
        return cls(read, target, places, len(split.first), share, period, later)

    def __len__(self) -> int:
        return len(self.places) - self.n_training

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.places)

    @property
    def is_training(self) -> NDArray[np.bool_]:
        """Whether each row of the table is a training row."""
        return self.places < self.n_training

    @property
    def training_order(self) -> NDArray[np.intp]:
        """Indices that put the training rows, which were read in the order of the file, into the keyed order."""
        return places_in(self.places[self.is_training])

    def blocks(self) -> Iterator[Block]:
        """All rows of the table, block by block: some checks look at the training rows, too."""
        start = 0
        for frame in self.read():
            places = self.places[start : start + frame.height]
            is_held_out = places >= self.n_training
            yield Block(frame, start, is_held_out, places[is_held_out] - self.n_training)
            start += frame.height
