"""Table 1 beside the paper's, as Markdown and on the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abnet.paper.reproduction.table1_comparison import TableComparison
from abnet.paper.reproduction.table1_rows import Table1Row
from abnet.paper.reproduction.table_cells import markdown_table, number_cell, number_with_deviation, signed_cell

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["to_markdown", "to_terminal"]

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
_LAST_TEXT_COLUMN = 4
_DIGITS = 3

NOTE = (
    "Settings are hidden layers × units, with the learning rate. Means over the repetitions, ± the sample standard "
    "deviation. Δ is ours minus the paper's. “better” and “worse”: the test errors differ by more than one standard "
    "deviation, the larger of the paper's and ours. The bound is an estimate, not a certificate: the setting is "
    "selected among many without a correction, and ads and adult are standardised with their test rows. “runs” counts "
    "the runs compared in the selection; an asterisk marks fewer than the full grid's. “rep.” counts the repetitions "
    "behind the figures; where there is an asterisk, the setting may have been selected on fewer of them."
)


def to_markdown(comparisons: Sequence[TableComparison]) -> str:
    """Return the comparison as a Markdown table with a note on how to read it."""
    table = markdown_table(HEADER, [_cells(comparison) for comparison in comparisons])
    return f"{table}\n\n{NOTE}\n"


def to_terminal(comparisons: Sequence[TableComparison]) -> "Table":
    """Return the comparison as a rich table, with better rows green and worse rows red."""
    from rich.table import Table

    table = Table(title="Table 1: ours beside the paper's", caption=NOTE, box=None, padding=(0, 1, 0, 0))
    for index in _IN_TERMINAL:
        heading = HEADER[index].replace(" (", "\n(")
        if index <= _LAST_TEXT_COLUMN:
            table.add_column(heading, justify="left", no_wrap=True)
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    styles = {"better": "green", "worse": "red", "": ""}
    for comparison in comparisons:
        cells = _cells(comparison)
        table.add_row(*(cells[index] for index in _IN_TERMINAL), style=styles[comparison.mark])
    return table


def _cells(comparison: TableComparison) -> list[str]:
    """The cells of one row, in the order of `HEADER`."""
    ours = _figures_of(comparison.ours)
    paper = _figures_of(comparison.paper)
    return [
        comparison.ours.dataset,
        comparison.ours.architecture,
        comparison.ours.model.replace("_l", "ℓ"),
        ours["setting"],
        paper["setting"],
        ours["bound"],
        paper["bound"],
        signed_cell(comparison.bound_difference, _DIGITS),
        ours["train error"],
        paper["train error"],
        ours["test error"],
        paper["test error"],
        signed_cell(comparison.test_difference, _DIGITS),
        comparison.mark,
        ours["MAP test error"],
        paper["MAP test error"],
        str(comparison.ours.repetitions or ""),
        _number_of_runs(comparison),
    ]


def _figures_of(row: Table1Row | None) -> dict[str, str]:
    """The cells that both tables have; empty where the paper has no such row."""
    if row is None:
        return dict.fromkeys(("setting", "bound", "train error", "test error", "MAP test error"), "")
    return {
        "setting": _setting(row),
        "bound": number_with_deviation(row.bound, row.bound_std, _DIGITS),
        "train error": number_cell(row.train_error, _DIGITS),
        "test error": number_with_deviation(row.test_error, row.test_error_std, _DIGITS),
        "MAP test error": number_cell(row.map_test_error, _DIGITS),
    }


def _setting(row: Table1Row) -> str:
    sizes = f"{row.hidden_layers}×{row.width}"
    if row.learning_rate is None:
        return sizes
    return f"{sizes}, {row.learning_rate:g}"


def _number_of_runs(comparison: TableComparison) -> str:
    """The runs compared; an asterisk marks fewer than the full grid's."""
    number = str(comparison.ours.runs or "")
    if comparison.complete:
        return number
    return f"{number}*"
