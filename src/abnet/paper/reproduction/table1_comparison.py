"""Our Table 1 beside the paper's, and where the two agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from abnet.paper.protocol import DEEPEST_IN_TABLE, LEARNING_RATES, NARROW_WIDTHS, REPETITIONS
from abnet.paper.reproduction.table1_rows import Table1Row, paper_table

__all__ = ["Disagreement", "TableComparison", "agreement_text", "compare", "disagreements"]

Mark: TypeAlias = Literal["better", "worse", ""]

BOUND_MARGIN = 0.005
ERROR_MARGIN = 0.003
RULE = (
    "A bound agrees if it is at most 0.005 above the paper's (narrow PBGNet and ABNet), a test error if it is at most "
    "two of the paper's standard deviations plus 0.003 above the paper's; lower values always agree."
)

_ROUNDING = 1e-12  # the paper's figures are decimals: .141 - .129 is not above .012


@dataclass(frozen=True)
class TableComparison:
    """A row of our table and the paper's row; `paper` is None for data that the paper does not have."""

    ours: Table1Row
    paper: Table1Row | None

    @property
    def test_difference(self) -> float | None:
        """Our test error minus the paper's."""
        if self.paper is None:
            return None
        return _difference(self.ours.test_error, self.paper.test_error)

    @property
    def bound_difference(self) -> float | None:
        """Our bound minus the paper's."""
        if self.paper is None:
            return None
        return _difference(self.ours.bound, self.paper.bound)

    @property
    def mark(self) -> Mark:
        """Whether our test error is better or worse by more than one standard deviation, the larger of the two."""
        difference = self.test_difference
        if difference is None or self.paper is None:
            return ""
        deviation = max(self.paper.test_error_std or 0.0, self.ours.test_error_std or 0.0)
        if abs(difference) <= deviation + _ROUNDING:
            return ""
        if difference > 0:
            return "worse"
        return "better"

    @property
    def complete(self) -> bool:
        """Whether the selection compared the whole grid: all depths, widths, rates and repetitions."""
        n_rates = len(LEARNING_RATES)
        if self.ours.model == "EBP":
            n_rates = 1
        return self.ours.runs == DEEPEST_IN_TABLE * len(NARROW_WIDTHS) * n_rates * REPETITIONS


def compare(rows: Iterable[Table1Row]) -> list[TableComparison]:
    """Pair rows with the paper's rows of the same data set, architecture and model."""
    paper = {row.cell: row for row in paper_table()}
    return [TableComparison(row, paper.get(row.cell)) for row in rows]


def _difference(ours: float | None, paper: float | None) -> float | None:
    if ours is None or paper is None:
        return None
    return ours - paper


# Agreement


@dataclass(frozen=True)
class Disagreement:
    """A figure that is worse than the paper's by more than the rule allows."""

    comparison: TableComparison
    figure: str
    ours: float
    paper: float
    allowed: float

    def __str__(self) -> str:
        row = self.comparison.ours
        return (
            f"{row.dataset}, {row.architecture}, {row.model.replace('_l', 'ℓ')}: {self.figure} {self.ours:.3f}, paper "
            f"{self.paper:.3f} (allowed up to {self.allowed:.3f})"
        )


def disagreements(comparisons: Iterable[TableComparison]) -> list[Disagreement]:
    """Return the figures that do not agree, in the order of the table."""
    checks = []
    for comparison in comparisons:
        checks.append(_bound_check(comparison))
        checks.append(_error_check(comparison))
    return [check for check in checks if check is not None and check.ours > check.allowed + _ROUNDING]


def agreement_text(comparisons: Iterable[TableComparison]) -> str:
    """Return the rule, the number of rows that agree and those that do not, as Markdown.

    Examples
    --------
    >>> "None of 0 rows breaks the rule." in agreement_text([])
    True
    """
    compared = [comparison for comparison in comparisons if comparison.paper is not None]
    disagreeing = disagreements(compared)
    if not disagreeing:
        return f"{RULE} None of {len(compared)} rows breaks the rule. {_strict_count(compared)}"
    cells = {disagreement.comparison.ours.cell for disagreement in disagreeing}
    lines = "\n".join(f"- {disagreement}" for disagreement in disagreeing)
    agreeing = len(compared) - len(cells)
    return f"{RULE} {agreeing} of {len(compared)} rows agree. {_strict_count(compared)} Not in agreement:\n\n{lines}"


def _strict_count(compared: Sequence[TableComparison]) -> str:
    """How many test errors differ by more than one standard deviation, in either direction."""
    marks = [comparison.mark for comparison in compared]
    agreeing = marks.count("")
    return (
        f"By a stricter rule, at most one standard deviation (the larger of the paper's and ours) in either direction, "
        f"{agreeing} of {len(compared)} test errors agree; {marks.count('worse')} are worse and "
        f"{marks.count('better')} are better."
    )


def _bound_check(comparison: TableComparison) -> Disagreement | None:
    """The bounds and the largest allowed, if the rule applies to this row; whether ours is larger is not asked yet."""
    ours = comparison.ours
    paper = comparison.paper
    if ours.model not in ("PBGNet", "ABNet") or ours.architecture != "narrow":
        return None
    if paper is None or ours.bound is None or paper.bound is None:
        return None
    return Disagreement(comparison, "bound", ours.bound, paper.bound, allowed=paper.bound + BOUND_MARGIN)


def _error_check(comparison: TableComparison) -> Disagreement | None:
    """The test errors and the largest allowed, if both tables have one."""
    ours = comparison.ours
    paper = comparison.paper
    if paper is None or ours.test_error is None or paper.test_error is None:
        return None
    allowed = paper.test_error + 2 * (paper.test_error_std or 0.0) + ERROR_MARGIN
    return Disagreement(comparison, "test error", ours.test_error, paper.test_error, allowed=allowed)
