"""Notes on held-out rows whose errors or labels depend on their order, in the file or in time."""

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.order_check import LEVEL, MOST_ROWS, OrderCheck, check_order
from abnet.certificates.split import Split
from abnet.estimators.observing import Observed
from abnet.tables.notes import Note
from abnet.training.labelled_rows import LabelledRows

__all__ = ["order_notes"]


def order_notes(rows: LabelledRows, split: Split, seen: Observed | None) -> tuple[Note, ...]:
    """Notes from a permutation test; none for groups, whose rows depend on each other anyway.

    Rows are in the order of the table that was passed to the fit, or of their times if it was split by time.

    Parameters
    ----------
    rows : LabelledRows
    split : Split
    seen : Observed or None
        None if it was interrupted.
    """
    if seen is None or rows.groups is not None:
        return ()
    order = _order_of(rows, split, len(seen.wrong))
    found = check_order(seen.wrong[order], seen.codes[order])
    by_time = rows.times is not None or (rows.held_out is not None and rows.held_out.period is not None)
    codes = ("errors by position", "labels by position")
    if by_time:
        codes = ("errors by time", "labels by time")
    notes = []
    for code, p in zip(codes, (found.errors, found.labels), strict=True):
        if p < LEVEL:
            notes.append(Note(code, facts={**_facts(found, len(order)), "p": f"{p:.3f}"}))
    return tuple(notes)


def _order_of(rows: LabelledRows, split: Split, n_rows: int) -> NDArray[np.intp]:
    """Places of the held-out rows that put them into the order of the table, or of time."""
    if rows.held_out is not None:
        if rows.held_out.times is None:
            return np.arange(n_rows)  # blocks are read in the order of the table
        return np.argsort(rows.held_out.times, kind="stable")
    if rows.times is None:
        return np.argsort(split.counted)
    return np.lexsort((split.counted, rows.times.values[split.counted]))


def _facts(found: OrderCheck, n_rows: int) -> dict[str, str | int | float]:
    looked_at = ""
    if n_rows > found.n_looked_at:
        looked_at = f", from {MOST_ROWS:,} of them"
    return {"where": found.more_errors, "looked_at": looked_at}
