"""Table 1: for each data set, architecture and model the selected setting, beside the paper's, and where they agree."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, TypeAlias

from abnet.paper.protocol import LEARNING_RATES, NARROW_WIDTHS, REPETITIONS, WIDE_WIDTHS
from abnet.paper.run_result import Result
from abnet.paper.run_setting import MODELS, Architecture, Setting
from abnet.paper.selection import Selected, by_cell, choose, deviation, mean

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "Disagreement",
    "Row",
    "TableComparison",
    "agreement_text",
    "compare",
    "disagreements",
    "paper_table",
    "read_csv",
    "select_rows",
    "to_csv",
    "to_markdown",
    "to_terminal",
]

TABLE_DATASETS = ("ads", "adult", "mnist17", "mnist49", "mnist56", "mnistLH")
"""The paper's order of rows."""

_WORDS = ("dataset", "architecture", "model")
_COUNTS = ("hidden_layers", "width", "repetitions", "runs")


@dataclass(frozen=True)
class Row:
    """A row of Table 1; its fields are the columns of the CSV file.

    Attributes
    ----------
    dataset, architecture, model
        The cell.
    hidden_layers, width, learning_rate
        The selected setting.
    bound
        Mean Gibbs bound, an estimate, because it does not account for the selection. None for EBP, BC and BNN.
    train_error, test_error, map_test_error
        Mean 0-1 errors; of the vote, and of the MAP network.
    test_error_std, bound_std
        Sample standard deviations over the repetitions.
    repetitions, runs
        Repetitions behind the row, and runs that were compared to select it.
    """

    dataset: str
    architecture: Architecture
    model: str
    hidden_layers: int
    width: int
    bound: float | None
    train_error: float | None
    test_error: float | None
    test_error_std: float | None
    map_test_error: float | None
    bound_std: float | None = None
    learning_rate: float | None = None
    repetitions: int | None = None
    runs: int | None = None

    @property
    def cell(self) -> tuple[str, str, str]:
        """Data set, architecture and model."""
        return self.dataset, self.architecture, self.model


def select_rows(results: Iterable[Result]) -> list[Row]:
    """Select a setting for each data set, architecture and model that has runs; rows come in the paper's order.

    Runs outside Table 1's grid (Figure 4's of more than 3 hidden layers) do not compete, nor do trials.

    Examples
    --------
    >>> setting = Setting("ads", "EBP", (2,), None, 0)
    >>> result = Result(setting, 0.01, 0.04, 0.05, epochs=30, best_epoch=9, seconds=1.0, validation_error=0.03)
    >>> select_rows([result])[0].test_error
    0.04
    """
    cells = by_cell((r for r in results if _in_table(r.setting)), lambda s: (s.dataset, s.architecture, s.model))
    rows = [_row(choice) for choice in map(choose, cells.values()) if choice is not None]
    return sorted(rows, key=_place)


def paper_table() -> list[Row]:
    """Return the paper's own Table 1 (see the file for its source)."""
    return read_csv((files("abnet.paper") / "paper_table1.csv").read_text(encoding="utf-8"))


def to_csv(rows: Iterable[Row]) -> str:
    """Return rows as CSV: the paper's columns, then `bound_std`, `learning_rate`, `repetitions`, `runs`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    for row in rows:
        writer.writerow([_cell(getattr(row, field.name)) for field in fields(Row)])
    return out.getvalue()


def read_csv(text: str) -> list[Row]:
    """Read rows from CSV; columns after the paper's may be missing. Lines that begin with # are comments."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [Row(**dict(_parsed(record))) for record in csv.DictReader(lines)]  # type: ignore[arg-type]


def _row(choice: Selected) -> Row:
    s, results = choice.setting, choice.results
    return Row(
        dataset=s.dataset,
        architecture=s.architecture,
        model=s.model,
        hidden_layers=s.hidden_layers,
        width=s.width,
        bound=mean(results, "bound"),
        train_error=mean(results, "train_error"),
        test_error=mean(results, "test_error"),
        test_error_std=deviation(results, "test_error"),
        map_test_error=mean(results, "map_test_error"),
        bound_std=deviation(results, "bound"),
        learning_rate=s.learning_rate,
        repetitions=len(results),
        runs=choice.runs,
    )


def _in_table(setting: Setting) -> bool:
    equal = len(set(setting.hidden_layer_sizes)) == 1
    return equal and setting.hidden_layers <= 3 and setting.width in NARROW_WIDTHS + WIDE_WIDTHS


def _place(row: Row) -> tuple[int, str, int, str]:
    known = TABLE_DATASETS.index(row.dataset) if row.dataset in TABLE_DATASETS else len(TABLE_DATASETS)
    return known, row.dataset, MODELS.index(row.model), row.architecture


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def _parsed(record: dict[str, str]) -> Iterator[tuple[str, str | int | float | None]]:
    for name, text in record.items():
        if name in _WORDS:
            yield name, text
        elif not text:
            yield name, None
        else:
            yield name, int(text) if name in _COUNTS else float(text)


# Ours beside the paper's

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
    "selected among many without a correction, and ads and adult are standardised with their test rows. “runs” counts "
    "the runs compared in the selection; an asterisk marks fewer than the full grid's."
)


BOUND_MARGIN, ERROR_MARGIN = 0.005, 0.003
RULE = (
    "A bound agrees if it is at most 0.005 above the paper's (narrow PBGNet and ABNet), a test error if it is at most "
    "two of the paper's standard deviations plus 0.003 above the paper's; lower values always agree."
)


@dataclass(frozen=True)
class TableComparison:
    """A row of our table and the paper's row; `paper` is None for data that the paper does not have."""

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


def compare(rows: Iterable[Row]) -> list[TableComparison]:
    """Pair rows with the paper's rows of the same data set, architecture and model."""
    paper = {row.cell: row for row in paper_table()}
    return [TableComparison(row, paper.get(row.cell)) for row in rows]


def to_markdown(comparisons: Sequence[TableComparison]) -> str:
    """Return the comparison as a Markdown table with a note on how to read it."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(_shown_cells, comparisons)]
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
        cells = _shown_cells(comparison)
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


def _shown_cells(comparison: TableComparison) -> tuple[str, ...]:
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
