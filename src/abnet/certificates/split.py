"""Split rows into training rows and bound rows: in the keyed order of their content (`keyed_order`), or by time."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.cell_hashing import Hashes
from abnet.certificates.keyed_order import Places, row_order
from abnet.certificates.same_table import log_chance_of_same_table
from abnet.utils.groups import number_groups
from abnet.utils.wording import number_of

__all__ = ["Split", "warn_of_few_rows"]


@dataclass(frozen=True)
class Split:
    """Indices of the training rows and of the bound rows, each in the keyed order.

    Betting bounds read the bound rows in the order of `counted`.

    Attributes
    ----------
    first : int array
        Indices of the first part: the training rows.
    counted : int array
        Indices of the bound rows.
    latest : float or None
        If the rows were split by time, the latest time in the first part; all bound rows are later.

    Examples
    --------
    >>> from abnet.certificates import row_hashes
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> y = np.arange(10) < 5
    >>> split = Split.of(row_hashes(X, y), 0.7, seed=0)
    >>> len(split.first), len(split.counted)
    (7, 3)
    >>> backwards = Split.of(row_hashes(X[::-1], y[::-1]), 0.7, seed=0)
    >>> np.array_equal(X[::-1][backwards.first], X[split.first])
    True
    """

    first: Places
    counted: Places
    latest: float | None = None

    @classmethod
    def of(cls, hashes: Hashes, fraction: float, seed: int, groups: ArrayLike | None = None) -> "Split":
        """The first `fraction` of the rows in the keyed order, and the rest; each part has at least one row.

        Parameters
        ----------
        hashes : array (n,)
            From `row_hashes`.
        fraction : float
            Fraction of the rows, or of the groups, in the first part.
        seed : int
        groups : array (n,), optional
            Group of each row: whole groups are on one side, ordered by a hash of their content.
        """
        order = row_order(hashes, seed, groups)
        ends = _unit_ends(order, groups)
        n_units = len(ends)
        if n_units < 2:
            found = number_of(n_units, "row")
            if groups is not None:
                found = number_of(n_units, "group")
            raise ValueError(f"{found} cannot be split into two parts: at least 2 are needed.")
        size = min(max(round(fraction * n_units), 1), n_units - 1)
        end = int(ends[size - 1])
        return cls(order[:end], order[end:])

    @classmethod
    def by_time(
        cls,
        hashes: Hashes,
        times: NDArray[np.float64],
        fraction: float,
        seed: int,
        groups: ArrayLike | None = None,
        *,
        most: int | None = None,
    ) -> "Split":
        """The earliest rows, about a `fraction` of them, and the later rows; rows of one time are on one side.

        The sides depend on the times alone, and where the first part ends on no later time: a cut that later rows move
        is a choice among them. Each side is in the keyed order of its own rows: the bound rows are taken as independent
        draws from their period, so a betting bound must not read them in the order of time.

        Parameters
        ----------
        hashes : array (n,)
            From `row_hashes`, without the times.
        times : array (n,)
        fraction : float
            The first part ends between two times, where its share of the rows is about this.
        seed : int
        groups : array (n,), optional
            Group of each row. The first part then ends where no group has rows on both sides; a ValueError says that
            there is no such time near the fraction.
        most : int, optional
            Maximum number of rows in the first part. It ends before if a time as large as any so far has no room.

        Examples
        --------
        >>> from abnet.certificates import row_hashes
        >>> hashes = row_hashes(np.arange(8.0).reshape(8, 1))
        >>> split = Split.by_time(hashes, np.array([1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 5.0]), 0.6, seed=0)
        >>> split.latest, np.sort(split.first).tolist(), np.sort(split.counted).tolist()
        (3.0, [0, 1, 2, 3, 4], [5, 6, 7])
        """
        latest = _end_of_past(times, fraction, groups, most)
        is_past = times <= latest
        first = _order_within(np.flatnonzero(is_past), hashes, seed, groups)
        counted = _order_within(np.flatnonzero(~is_past), hashes, seed, groups)
        return cls(first, counted, latest)


def _end_of_past(times: NDArray[np.float64], fraction: float, groups: ArrayLike | None, most: int | None) -> float:
    """The last time of the first part: the first one with about enough rows, or with which no room may be left.

    What comes later has no part in this, except that a row or more must remain, and that groups must not go on. If the
    number of rows at the next time decided, the held-out rows would be those of a chosen sample.
    """
    moments, counts = np.unique(times, return_counts=True)
    if len(moments) < 2:
        raise ValueError("time: all rows have the same time, so none of them is later than the others.")
    sizes = np.cumsum(counts)  # of the first part, if it ends with each of these times
    mean_count = sizes / np.arange(1, len(sizes) + 1)
    # With half as many rows as a time has had so far, a first part is nearer to the fraction than the next one.
    is_enough = sizes + mean_count / 2 >= fraction * len(times)
    if most is not None:
        is_enough |= sizes + np.maximum.accumulate(counts) > most
    may_end = np.arange(len(moments)) < len(moments) - 1
    if groups is not None:
        near = np.abs(sizes / len(times) - fraction) <= min(fraction, 1 - fraction) / 2
        may_end &= near & _leaves_groups_whole(moments, times, number_groups(groups, len(times)))
        if not may_end.any():
            raise ValueError(
                "time: wherever the past ends, some group has rows on both sides: training rows in the past, and later "
                "rows that certify the model. Such rows are not independent. Leave out the earlier or the later rows "
                "of these groups, or split by groups alone."
            )
    ends = np.flatnonzero(may_end & is_enough)
    end = int(np.flatnonzero(may_end)[-1])
    if len(ends):
        end = int(ends[0])
    if most is not None and sizes[end] > most:
        raise ValueError(
            f"time: the past has {sizes[end]:,} rows, because rows of one time stay together, and at most {most:,} may "
            "be in training."
        )
    return float(moments[end])


def _leaves_groups_whole(
    moments: NDArray[np.float64], times: NDArray[np.float64], group_of: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether every group that has begun at a time has ended, too."""
    n_groups = int(group_of.max()) + 1
    begins = np.full(n_groups, np.inf)
    ends = np.full(n_groups, -np.inf)
    np.minimum.at(begins, group_of, times)
    np.maximum.at(ends, group_of, times)
    n_begun = np.searchsorted(np.sort(begins), moments, side="right")
    n_ended = np.searchsorted(np.sort(ends), moments, side="right")
    return np.asarray(n_begun == n_ended)


def _order_within(rows: Places, hashes: Hashes, seed: int, groups: ArrayLike | None) -> Places:
    """Rows of one side, in the keyed order of their content."""
    of_rows = None
    if groups is not None:
        of_rows = np.asarray(groups)[rows]
    return rows[row_order(hashes[rows], seed, of_rows)]


def _unit_ends(order: Places, groups: ArrayLike | None) -> Places:
    """Where each unit of the order ends: a row, or a group."""
    if groups is None or not len(order):
        return np.arange(1, len(order) + 1)
    group_of = number_groups(groups, len(order))[order]
    return np.append(np.flatnonzero(group_of[1:] != group_of[:-1]) + 1, len(order))


_CHECKED_ROWS = 10_000
_FEWEST_ROWS = 20
_LIKELY = 1 / 300


def warn_of_few_rows(hashes: Hashes) -> None:
    """Warn if rows repeat so much that other samples are often the same table, which a given seed splits alike.

    If a table has probability p, a seed chooses among about 1/p splits. The share of samples in which a bound at δ
    fails then varies from seed to seed by about ``sqrt(δ p)``: with p = 1/300, by 1% at δ = 5%.

    Parameters
    ----------
    hashes : array (n,)
        Of the training rows, in the keyed order.
    """
    counts = np.unique(hashes[:_CHECKED_ROWS], return_counts=True)[1]
    n_rows = int(counts.sum())
    # If most rows occur once, new rows have values that were not seen yet. A bound from very few rows rarely fails.
    if n_rows < _FEWEST_ROWS or n_rows < 2 * len(counts):
        return
    if log_chance_of_same_table(counts) < math.log(_LIKELY):
        return
    warnings.warn(
        f"The training rows hold only {number_of(len(counts), 'different row')}, labels included. A given seed splits "
        "other samples with the same counts in the same way, so the stated confidence is an average over seeds. It is "
        "exact if the seed was drawn, which is the default; with a seed that was chosen, the certificate may be false "
        "more often.",
        stacklevel=2,
    )
