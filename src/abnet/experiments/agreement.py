"""Our Table 1 beside the paper's, and where they agree, by a rule stated beforehand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from abnet.experiments.setting import LEARNING_RATES, NARROW_WIDTHS, REPETITIONS
from abnet.experiments.table1 import Row, paper_table

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "Disagreement",
    "TableComparison",
    "agreement_text",
    "compare",
    "disagreements",
    "to_markdown",
    "to_terminal",
]

Mark: TypeAlias = Literal["better", "worse", ""]

HEADER = (
    "data set",
    "half",
    "model",
    "ours",
    "paper's",
    "bound (estimate)",
    "paper",
    "Δ",
    "train",
    "paper",
    "test error",
    "paper",
    "Δ",
    "",
    "MAP test",
    "paper",
    "rep.",
    "runs",
)

_IN_TERMINAL = (0, 1, 2, 3, 5, 6, 7, 10, 11, 12, 13, 16, 17)  # what fits 120 characters; Markdown has all columns

NOTE = (
    "Settings are hidden layers × units, with the learning rate. Means over the repetitions, ± the sample standard "
    "deviation. Δ is ours minus the paper's. “better” and “worse”: the test errors differ by more than one standard "
    "deviation, the larger of the paper's and ours. The bound is an estimate, not a certificate: the setting is "
    "selected among many without paying for it, and ads and adult are standardised with their test rows. “runs” counts "
    "the runs compared in the selection; an asterisk marks fewer than the full grid's."
)


BOUND_MARGIN, ERROR_MARGIN = 0.005, 0.003
RULE = (
    "A bound agrees if it is at most 0.005 above the paper's (narrow PBGNet and ABNet), a test error if it is at most "
    "two of the paper's standard deviations plus 0.003 above the paper's; lower is always fine."
)


@dataclass(frozen=True)
class TableComparison:
    """A row of ours beside the paper's; `paper` is None for data that the paper does not have."""

    ours: Row
    paper: Row | None

    @property
    def test_difference(self) -> float | None:
        """Our test error minus the paper's."""
        return None if self.paper is None else _difference(self.ours.test_error, self.paper.test_error)

    @property
    def bound_difference(self) -> float | None:
        """Our bound minus the paper's."""
        return None if self.paper is None else _difference(self.ours.bound, self.paper.bound)

    @property
    def mark(self) -> Mark:
        """Whether our test error is better or worse by more than one standard deviation, the larger of the two."""
        difference = self.test_difference
        if difference is None or self.paper is None:
            return ""
        deviation = max(self.paper.test_error_std or 0.0, self.ours.test_error_std or 0.0)
        if abs(difference) <= deviation + 1e-12:  # the paper's figures are decimals: .141 - .129 is not above .012
            return ""
        return "worse" if difference > 0 else "better"

    @property
    def complete(self) -> bool:
        """Whether the selection compared the whole grid: all depths, widths, rates and repetitions."""
        rates = 1 if self.ours.model == "EBP" else len(LEARNING_RATES)
        return self.ours.runs == 3 * len(NARROW_WIDTHS) * rates * REPETITIONS


@dataclass(frozen=True)
class Disagreement:
    """A figure of ours that is worse than the paper's by more than the rule allows."""

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


def compare(rows: Iterable[Row]) -> list[TableComparison]:
    """Set rows beside the paper's rows of the same data set, architecture and model."""
    paper = {row.cell: row for row in paper_table()}
    return [TableComparison(row, paper.get(row.cell)) for row in rows]


def to_markdown(comparisons: Sequence[TableComparison]) -> str:
    """Return the comparison as a Markdown table with a note on how to read it."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(_cells, comparisons)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\n{NOTE}\n"


def to_terminal(comparisons: Sequence[TableComparison]) -> "Table":
    """Return the comparison as a rich table, with better rows green and worse rows red."""
    from rich.table import Table

    table = Table(title="Table 1: ours beside the paper's", caption=NOTE, box=None, padding=(0, 1, 0, 0))
    for index in _IN_TERMINAL:
        table.add_column(HEADER[index].replace(" (", "\n("), justify="left" if index < 5 else "right", no_wrap=True)
    styles = {"better": "green", "worse": "red", "": ""}
    for comparison in comparisons:
        cells = _cells(comparison)
        table.add_row(*(cells[index] for index in _IN_TERMINAL), style=styles[comparison.mark])
    return table


def disagreements(comparisons: Iterable[TableComparison]) -> list[Disagreement]:
    """Return the figures that do not agree, in the order of the table."""
    return [found for c in comparisons for found in (_bound(c), _error(c)) if found is not None]


def agreement_text(comparisons: Iterable[TableComparison]) -> str:
    """Return the rule, the number of rows that agree and those that do not, as Markdown.

    Examples
    --------
    >>> agreement_text([]).endswith("None of 0 rows breaks the rule.")
    True
    """
    compared = [c for c in comparisons if c.paper is not None]
    found = disagreements(compared)
    if not found:
        return f"{RULE} None of {len(compared)} rows breaks the rule."
    rows = {e.comparison.ours.cell for e in found}
    lines = "\n".join(f"- {e}" for e in found)
    return f"{RULE} {len(compared) - len(rows)} of {len(compared)} rows agree. The others:\n\n{lines}"


def _bound(c: TableComparison) -> Disagreement | None:
    applies = c.ours.model in ("PBGNet", "ABNet") and c.ours.architecture == "narrow"
    if not applies or c.paper is None or c.ours.bound is None or c.paper.bound is None:
        return None
    return _worse(c, "bound", c.ours.bound, c.paper.bound, c.paper.bound + BOUND_MARGIN)


def _error(c: TableComparison) -> Disagreement | None:
    if c.paper is None or c.ours.test_error is None or c.paper.test_error is None:
        return None
    allowed = c.paper.test_error + 2 * (c.paper.test_error_std or 0.0) + ERROR_MARGIN
    return _worse(c, "test error", c.ours.test_error, c.paper.test_error, allowed)


def _worse(c: TableComparison, figure: str, ours: float, paper: float, allowed: float) -> Disagreement | None:
    return Disagreement(c, figure, ours, paper, allowed) if ours > allowed + 1e-12 else None


def _cells(comparison: TableComparison) -> tuple[str, ...]:
    ours, paper = comparison.ours, comparison.paper
    return (
        ours.dataset,
        ours.architecture,
        ours.model.replace("_l", "ℓ"),
        _setting(ours),
        _setting(paper) if paper else "",
        _with_deviation(ours.bound, ours.bound_std),
        _figure(paper.bound) if paper else "",
        _signed(comparison.bound_difference),
        _figure(ours.train_error),
        _figure(paper.train_error) if paper else "",
        _with_deviation(ours.test_error, ours.test_error_std),
        _with_deviation(paper.test_error, paper.test_error_std) if paper else "",
        _signed(comparison.test_difference),
        comparison.mark,
        _figure(ours.map_test_error),
        _figure(paper.map_test_error) if paper else "",
        str(ours.repetitions or ""),
        f"{ours.runs or ''}{'' if comparison.complete else '*'}",
    )


def _setting(row: Row) -> str:
    rate = "" if row.learning_rate is None else f", {row.learning_rate:g}"
    return f"{row.hidden_layers}×{row.width}{rate}"


def _with_deviation(value: float | None, deviation: float | None) -> str:
    return _figure(value) + (f" ± {_figure(deviation)}" if value is not None and deviation is not None else "")


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def _difference(ours: float | None, paper: float | None) -> float | None:
    return None if ours is None or paper is None else ours - paper
