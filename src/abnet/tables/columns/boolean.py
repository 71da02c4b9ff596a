"""Columns of true and false, or yes and no."""

import numpy as np

from abnet.tables.cells import MISSING, TRUTH, is_missing, to_text
from abnet.tables.columns.column import Chosen, Column, Encoded, Rules, UnseenRows, counted, kind, rule
from abnet.tables.frames import Table
from abnet.tables.notes import Note
from abnet.tables.series import Cells, DateCells

__all__ = ["BooleanColumn"]


@kind
class BooleanColumn(Column, frozen=True, tag="boolean"):
    """+1 for true or yes, -1 for false or no, 0 for missing; and a 0-1 feature for missing if fitting met any."""

    takes = "truth"
    odd = "odd truth"
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) + (f"{self.name} (missing)",) * self.indicator

    @property
    def read_as(self) -> str:
        """How cells have to be written."""
        return "true or false"

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Anything but a boolean or a missing value is reported, and counts as missing."""
        distinct = table.cells(self.name).distinct()
        found = [TRUTH.get(to_text(value).lower()) for value in distinct.values]
        signs = np.array([0 if truth is None else 2 * truth - 1 for truth in found], np.float32)
        lookup = np.column_stack([signs] + [signs == 0] * self.indicator).astype(np.float32)
        strange = [truth is None and not is_missing(value) for truth, value in zip(found, distinct.values, strict=True)]
        return Encoded.looked_up(lookup, distinct, (signs == 0).tolist()), counted(distinct, strange)


_TRUTHS = set(TRUTH) - {"0", "1"}  # these beside words are categories


@rule(20)
def _booleans(name: str, cells: Cells, rules: Rules) -> Chosen | None:
    """Only true and false, or yes and no."""
    if isinstance(cells, DateCells) or not all(text.lower() in _TRUTHS for text in cells.sample()):
        return None
    texts = {text.lower() for text in cells.counts()}
    present = texts - MISSING
    if not present or not present <= _TRUTHS:
        return None
    if len({TRUTH[text] for text in present}) == 1 and present == texts:
        return Chosen(None, (Note("constant", (name,), facts={"value": next(iter(cells.counts()))}),))
    return Chosen(BooleanColumn(name, present != texts))
