"""Split rows into training rows and bound rows, in the keyed order of their content (`keyed_order`)."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

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
