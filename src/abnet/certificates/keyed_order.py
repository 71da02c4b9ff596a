"""The order of rows by a keyed hash of their content.

A certificate needs an order of the rows that does not depend on the data-generating process. Row positions are not such
an order: a file may be sorted by label, and a permutation with a fixed seed selects the same positions in every sample.
Therefore each row gets a hash of its cells and its label (`row_hashes`), and its position in the order follows from a
hash of

- the key: the seed, the number of rows, and the sum of the hashes of all rows,
- the row's own hash,
- the number of equal rows before it.

**The same rows and the same seed give the same order, in any order of the file; another sample gets another key.**

There is one exception to the second half: a table with a constant feature and two labels is described by two counts,
and a given seed orders all tables with these counts alike. A promise then holds on average over seeds, so it is exact
if the seed is drawn; with a fixed seed it may fail in more than a share δ of the samples (`warn_of_few_rows`). The
order of the rows could not be added to the key, because files may be sorted.
"""

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.cell_hashing import STEP, Hashes, mixed
from abnet.certificates.row_hashing import hash_sum
from abnet.utils.groups import number_groups

__all__ = ["Places", "bet_keys", "row_order"]

Places = NDArray[np.intp]
"""Indices of rows."""


def row_order(hashes: Hashes, seed: int = 0, groups: ArrayLike | None = None) -> Places:
    """Indices of all rows in the keyed order; rows of a group are neighbours.

    Temporarily takes up to 40 bytes per row.

    Parameters
    ----------
    hashes : array (n,)
        From `row_hashes`.
    seed : int
    groups : array (n,), optional

    Examples
    --------
    >>> from abnet.certificates import row_hashes
    >>> row_order(row_hashes(np.array([[1.0], [2.0], [2.0]])))
    array([0, 2, 1])
    """
    key = _key(hashes, seed)
    positions = _keyed(hashes, key)
    if groups is None:
        return np.argsort(positions)
    group_of = number_groups(groups, len(hashes))
    contents = np.zeros(int(group_of.max(initial=-1)) + 1, np.uint64)
    np.add.at(contents, group_of, mixed(hashes.copy()))
    return np.lexsort((positions, _keyed(contents, key)[group_of]))


def bet_keys(order: Places) -> Hashes:
    """Position of each row in an order from `row_order` or `Split`; `observe` takes these as keys.

    Examples
    --------
    >>> bet_keys(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    keys = np.empty(len(order), np.uint64)
    keys[order] = np.arange(len(order), dtype=np.uint64)
    return keys


def _key(hashes: Hashes, seed: int) -> tuple[np.uint64, np.uint64]:
    digest = hashlib.blake2b(f"{seed} {len(hashes)} {hash_sum(hashes)}".encode(), digest_size=16).digest()
    first, second = np.frombuffer(digest, "<u8")
    return first, second


def _keyed(hashes: Hashes, key: tuple[np.uint64, np.uint64]) -> Hashes:
    """The values that rows are sorted by."""
    values = mixed(hashes + key[0])
    values += _equal_before(hashes) * STEP
    values += key[1]
    return mixed(values)


def _equal_before(hashes: Hashes) -> Hashes:
    """Number of equal hashes before each hash.

    A copy is sorted first, so that only hashes that occur more than once need further work.
    """
    before = np.zeros(len(hashes), np.uint64)
    in_order = np.sort(hashes)
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(repeated):
        return before
    repeated = repeated[np.append(True, repeated[1:] != repeated[:-1])]
    nearest = np.minimum(np.searchsorted(repeated, hashes), len(repeated) - 1)
    rows = np.flatnonzero(repeated[nearest] == hashes)
    rows = rows[np.argsort(hashes[rows], kind="stable")]
    equal = hashes[rows]
    starts = np.flatnonzero(np.append(True, equal[1:] != equal[:-1]))
    lengths = np.diff(np.append(starts, len(equal)))
    before[rows] = np.arange(len(rows)) - np.repeat(starts, lengths)
    return before
