"""Columns of true and false, or yes and no."""

import numpy as np

from abnet.tables.cells import MISSING, TRUTH, is_missing, to_text
from abnet.tables.column_cells import Cells, DateCells
from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature, unseen_rows
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.rule_registry import Chosen, constant, rule
from abnet.tables.table import Table

__all__ = ["BooleanColumn"]

_TRUTH_WORDS = set(TRUTH) - {"0", "1"}
"""Text that is true or false; 0 and 1 beside words are categories."""


@kind
class BooleanColumn(Column, frozen=True, tag="boolean"):
    """+1 for true or yes, -1 for false or no, 0 for missing.

    Attributes
    ----------
    indicator : bool
        Whether a 0-1 feature marks missing cells: if cells were missing in fitting.
    """

    takes = "truth"
    unseen_code = "odd truth"
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        if self.indicator:
            return self.name, missing_feature(self.name)
        return (self.name,)

    @property
    def read_as(self) -> str:
        """How cells must be written."""
        return "true or false"

    @property
    def values(self) -> tuple[bool, bool]:
        """False and true."""
        return (False, True)

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features; cells that are neither true, false nor missing are reported, and count as missing."""
        distinct = table.cells(self.name).distinct()
        signs = np.array([_sign(value) for value in distinct.values], np.float32)
        missing = signs == 0
        lookup = signs[:, None]
        if self.indicator:
            lookup = np.column_stack([signs, missing]).astype(np.float32)
        unseen = [sign == 0 and not is_missing(value) for sign, value in zip(signs, distinct.values, strict=True)]
        return Encoded.looked_up(lookup, distinct, missing.tolist()), unseen_rows(distinct, unseen)


def _sign(value: object) -> int:
    """+1 for true, -1 for false, 0 for anything else."""
    truth = TRUTH.get(to_text(value).lower())
    if truth is None:
        return 0
    return 2 * truth - 1


@rule(20)
def _booleans(name: str, cells: Cells, options: ColumnOptions) -> Chosen | None:
    """Only true and false, or yes and no."""
    if isinstance(cells, DateCells):
        return None
    if not all(text.lower() in _TRUTH_WORDS for text in cells.sample()):
        return None
    texts = {text.lower() for text in cells.counts()}
    present = texts - MISSING
    if not present or not present <= _TRUTH_WORDS:
        return None
    some_missing = present != texts
    truths = {TRUTH[text] for text in present}
    if len(truths) == 1 and not some_missing:
        return constant(name, next(iter(cells.counts())))
    return Chosen(BooleanColumn(name, some_missing))
