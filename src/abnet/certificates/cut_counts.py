"""`CutCounts`: numbers of rows by their class, and of those above a threshold."""

from typing import NamedTuple

__all__ = ["CutCounts"]


class CutCounts(NamedTuple):
    """Numbers of rows by their class, and of those above a threshold.

    Attributes
    ----------
    positives, positives_above : int
        Rows of the positive class.
    negatives, negatives_above : int
        Rows of the other class.
    rows, rows_above : int
        All rows; rows with a label that the model does not know belong to neither class.
    """

    positives: int
    positives_above: int
    negatives: int
    negatives_above: int
    rows: int
    rows_above: int

    @property
    def others(self) -> int:
        """Rows that are not of the positive class."""
        return self.rows - self.positives

    @property
    def others_above(self) -> int:
        """Those of them above the threshold."""
        return self.rows_above - self.positives_above

    @property
    def errors(self) -> int:
        """Wrong answers if rows above the threshold are predicted as positive, all others as negative."""
        negatives_below = self.negatives - self.negatives_above
        return self.rows - self.positives_above - negatives_below
