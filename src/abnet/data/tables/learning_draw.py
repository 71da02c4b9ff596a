"""Which rows of a stream learn, and which are only counted: a seeded draw per row, whatever the row holds.

With a bound on a finished predictor, the rows that bound it need never be in memory. A first pass over the table takes
out the rows that learn; a second one streams all others through what they taught.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abnet.data.tables.frames import stacked

if TYPE_CHECKING:
    import polars

__all__ = ["LearningDraw", "learning_rows"]

_PER_STEP = 4  # draws of one step of the generator


@dataclass(frozen=True)
class LearningDraw:
    """Row i learns if its draw, uniform on [0, 1), is below `share`.

    The draw is a function of the seed and of i alone: it is the same in every pass, however the rows are cut into
    batches, and independent of what the rows hold, as a certificate demands.

    Examples
    --------
    >>> draw = LearningDraw(seed=0, share=0.5)
    >>> whole = draw.learns(0, 1000)
    >>> np.array_equal(whole[123:456], draw.learns(123, 333))
    True
    """

    seed: int
    share: float

    def draws(self, start: int, rows: int) -> NDArray[np.float64]:
        """The draws of rows `start` to ``start + rows``."""
        skipped = start % _PER_STEP
        generator = np.random.Philox(np.random.SeedSequence(self.seed)).advance(start // _PER_STEP)
        return np.random.Generator(generator).random(skipped + rows)[skipped:]

    def learns(self, start: int, rows: int) -> NDArray[np.bool_]:
        """Which of the rows `start` to ``start + rows`` learn."""
        return self.draws(start, rows) < self.share


def learning_rows(
    frames: "Iterable[polars.DataFrame]", *, seed: int, share: float = 0.5, max_learn_rows: int = 1_000_000
) -> "tuple[polars.DataFrame, LearningDraw, int]":
    """The rows that learn, in their order, from a stream of frames; at most `max_learn_rows` of them.

    Where the share would give more, those with the smallest draws learn: a random choice from the whole table, even if
    it is sorted, and one that a second pass repeats.

    Parameters
    ----------
    frames : iterable of polars.DataFrame
        Such as `batches` yields.
    seed : int
    share : float
        Of the rows, to learn from.
    max_learn_rows : int

    Returns
    -------
    frame : polars.DataFrame
        The rows that learn.
    draw : LearningDraw
        Says of every row whether it is among them.
    n_rows : int
        Rows in all.

    Examples
    --------
    >>> import polars as pl
    >>> frames = [pl.DataFrame({"x": range(start, start + 100)}) for start in range(0, 1000, 100)]
    >>> frame, draw, n_rows = learning_rows(frames, seed=0, max_learn_rows=50)
    >>> frame["x"].to_list() == np.flatnonzero(draw.learns(0, n_rows)).tolist(), frame.height
    (True, 50)
    """
    if not 0 < share < 1 or max_learn_rows < 1:
        raise ValueError(f"share must lie between 0 and 1, max_learn_rows be 1 or more; got {share}, {max_learn_rows}.")
    draw, n_rows = LearningDraw(seed, share), 0
    kept: list[polars.DataFrame] = []
    drawn = np.empty(0)
    for frame in frames:
        mine = draw.draws(n_rows, frame.height)
        n_rows += frame.height
        kept.append(frame.filter(mine < draw.share))
        drawn = np.concatenate([drawn, mine[mine < draw.share]])
        if len(drawn) > 2 * max_learn_rows:
            kept, drawn, draw = _fewer(kept, drawn, draw, max_learn_rows)
    if len(drawn) > max_learn_rows:
        kept, drawn, draw = _fewer(kept, drawn, draw, max_learn_rows)
    return stacked(kept), draw, n_rows


def _fewer(
    kept: "list[polars.DataFrame]", drawn: NDArray[np.float64], draw: LearningDraw, most: int
) -> "tuple[list[polars.DataFrame], NDArray[np.float64], LearningDraw]":
    """Only the rows with the `most` smallest draws."""
    limit = float(np.partition(drawn, most)[most])
    return [stacked(kept).filter(drawn < limit)], drawn[drawn < limit], LearningDraw(draw.seed, limit)
