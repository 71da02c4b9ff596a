"""The rows of Table 1 that use a variant of the protocol, beside the same rows without it."""

from collections.abc import Sequence

from abnet.paper.reproduction.table1_comparison import TableComparison, compare
from abnet.paper.reproduction.table1_rows import Table1Row
from abnet.paper.reproduction.table_cells import markdown_table, number_cell, number_with_deviation

__all__ = ["procedures_to_markdown"]

_HEADER = (
    "data set",
    "model",
    "procedure",
    "setting",
    "bound (estimate)",
    "paper",
    "test error",
    "paper",
    "runs",
    "in Table 1",
)
_DIGITS = 4


def procedures_to_markdown(rows: Sequence[Table1Row], table1: Sequence[Table1Row]) -> str:
    """Return a Markdown table of all rows, which says which of them Table 1 uses.

    Parameters
    ----------
    rows
        The rows by the protocol without changes, and by its variants.
    table1
        The rows of Table 1.
    """
    in_table = {(row.cell, row.variant) for row in table1}
    lines = []
    for comparison in compare(rows):
        row = comparison.ours
        mark = ""
        if (row.cell, row.variant) in in_table:
            mark = "yes"
        lines.append([*_cells(comparison), mark])
    return markdown_table(_HEADER, lines)


def _cells(comparison: TableComparison) -> list[str]:
    """All cells of a row but the last."""
    row = comparison.ours
    paper_bound = ""
    paper_error = ""
    if comparison.paper is not None:
        paper_bound = number_cell(comparison.paper.bound, 3)
        paper_error = number_cell(comparison.paper.test_error, 3)
    return [
        row.dataset,
        row.model.replace("_l", "ℓ"),
        row.variant or "protocol",
        f"{row.hidden_layers}×{row.width}, {row.learning_rate:g}",
        number_with_deviation(row.bound, row.bound_std, _DIGITS),
        paper_bound,
        number_with_deviation(row.test_error, row.test_error_std, _DIGITS),
        paper_error,
        str(row.runs or ""),
    ]
