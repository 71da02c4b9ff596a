"""`HeldOutBlocks`: the held-out rows of a fit, prepared block by block.

A table in memory is one block. Of a larger table, every block is read from the source, prepared and forgotten; what the
checks of copies, of values without a place and of the rows of a fit need is kept.
"""

import warnings
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.copied_rows import CopiesInStream
from abnet.certificates.fitted_rows import MOST_ROWS, RowFilter, StreamedTable, kept_rows, row_filter
from abnet.estimators.known_classes import warn_of_unknown
from abnet.tables.held_out_rows import Block, HeldOutRows
from abnet.tables.model_labels import label_codes
from abnet.tables.table import as_table
from abnet.tables.unseen import Unseen, UnseenWarning, merge
from abnet.training.learned import BoundRows, PreparedRows
from abnet.utils.coded_rows import Inputs, without_codes
from abnet.utils.label_values import label_values
from abnet.utils.progress import report_progress

__all__ = ["HeldOutBlocks", "ManyBlocks", "OneBlock"]


class HeldOutBlocks(Protocol):
    """The held-out rows of a fit, in blocks."""

    n_rows: int
    """Number of held-out rows."""

    def __iter__(self) -> Iterator[BoundRows]: ...

    def warn(self) -> None:
        """Warn of what was found in the rows, once all blocks were read."""

    def row_filter(self, *, untouched: bool) -> RowFilter | None:
        """The filter of the rows that may not certify the model again.

        Parameters
        ----------
        untouched : bool
            Whether nothing was learned from the held-out rows or chosen with them: they may then certify it again.
        """


class OneBlock:
    """The held-out rows of a table in memory: one block.

    Parameters
    ----------
    rows : PreparedRows
        Training rows and held-out rows.
    """

    def __init__(self, rows: PreparedRows) -> None:
        self._rows = rows
        self.n_rows = len(rows.codes) - rows.n_first

    def __iter__(self) -> Iterator[BoundRows]:
        yield self._rows.bound()

    def warn(self) -> None:
        """All rows were looked at when they were prepared."""

    def row_filter(self, *, untouched: bool) -> RowFilter | None:
        """As of `HeldOutBlocks`."""
        rows = self._rows
        n_used = len(rows.codes)
        if untouched:
            n_used = rows.n_first
        values = label_values(rows.codes, rows.labels.n_classes)
        if n_used <= MOST_ROWS:
            return row_filter(np.asarray(rows.features.inputs(slice(None))), values, n_used)
        kept = kept_rows(n_used)  # only these rows are written out
        return row_filter(np.asarray(rows.features.inputs(kept)), values[kept])


class ManyBlocks:
    """The held-out rows of a table larger than memory.

    Parameters
    ----------
    source : HeldOutRows
    rows : PreparedRows
        The training rows.
    """

    def __init__(self, source: HeldOutRows, rows: PreparedRows) -> None:
        self._source = source
        self._rows = rows
        self.n_rows = len(source)
        self._copies = CopiesInStream(rows.features.cells)
        self._unseen: list[Unseen] = []
        self._n_unknown = 0
        self._table = StreamedTable()
        self._is_sampled = np.zeros(source.n_rows, np.bool_)
        self._is_sampled[kept_rows(source.n_rows)] = True
        self._sample: list[tuple[NDArray[np.float32], NDArray[np.intp]]] = []

    def __iter__(self) -> Iterator[BoundRows]:
        for block in self._source.blocks():
            report_progress("Certificate", block.start / self._source.n_rows)
            inputs, codes = self._prepared(block)
            self._look_at(inputs, codes, block.start)
            if block.is_held_out.any():
                held_out_codes = codes[block.is_held_out]
                self._n_unknown += int(np.sum(held_out_codes == self._rows.labels.n_classes))
                yield BoundRows(inputs[block.is_held_out], held_out_codes, keys=block.keys)

    def _prepared(self, block: Block) -> tuple[Inputs, NDArray[np.intp]]:
        """Inputs of the networks, and classes of all rows of a block; K for an unknown label."""
        table = as_table(block.frame, before=block.start)
        codes = label_codes(table, self._source.target, self._rows.labels.classes.tolist())
        read = self._rows.features.preparation.read(table, None)
        self._unseen = merge([*self._unseen, *read.unseen])
        return read.inputs, codes

    def _look_at(self, inputs: Inputs, codes: NDArray[np.intp], start: int) -> None:
        """Keep what the checks of all rows need."""
        self._copies.add(without_codes(inputs), codes)
        is_sampled = self._is_sampled[start : start + len(codes)]
        if is_sampled.any():
            self._sample.append((np.asarray(inputs[is_sampled]), codes[is_sampled]))
        if self._rows.n_first <= MOST_ROWS:  # as for a table in memory: more rows are recognised by a sample
            self._table.add(inputs, label_values(codes, self._rows.labels.n_classes))

    def warn(self) -> None:
        """Warn of values that did not occur in training, of copies and of unknown labels."""
        for report in self._unseen:
            warnings.warn(UnseenWarning(report.note), stacklevel=4)
        copies = self._copies.warning(self._rows.labels.names)
        if copies:
            warnings.warn(copies, stacklevel=4)
        warn_of_unknown(self._n_unknown)

    def row_filter(self, *, untouched: bool) -> RowFilter | None:
        """As of `HeldOutBlocks`."""
        n_classes = self._rows.labels.n_classes
        if untouched:
            kept = kept_rows(self._rows.n_first)
            inputs = np.asarray(self._rows.features.inputs(kept))
            values = label_values(self._rows.codes[kept], n_classes)
            return row_filter(inputs, values, table=self._table)
        inputs = np.concatenate([some for some, _ in self._sample])
        codes = np.concatenate([codes for _, codes in self._sample])
        return row_filter(inputs, label_values(codes, n_classes))
