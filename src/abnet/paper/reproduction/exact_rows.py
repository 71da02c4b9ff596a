"""The rows of wide PBGNet with exact expected outputs, beside Table 1's, which sample them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduction.record_csv import read_records, records_to_csv
from abnet.paper.reproduction.selection import by_cell, deviation, mean
from abnet.paper.reproduction.table1_rows import Table1Row, paper_table
from abnet.paper.reproduction.table_cells import markdown_table, number_cell, number_with_deviation
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting

__all__ = ["ExactRow", "exact_rows", "exact_settings", "exact_to_csv", "exact_to_markdown", "read_exact"]

VARIANT = "exact"
_DIGITS = 4


@dataclass(frozen=True)
class ExactRow:
    """A row of `table1_exact.csv`: the setting of a row of Table 1, sampled as there and computed exactly."""

    dataset: str
    hidden_layers: int
    width: int
    learning_rate: float
    sampled_bound: float | None
    bound: float | None
    bound_std: float | None
    sampled_test_error: float | None
    test_error: float | None
    test_error_std: float | None
    repetitions: int


def exact_settings(table1: Iterable[Table1Row], repetitions: int = REPETITIONS) -> list[Setting]:
    """Return the runs with exact outputs at the settings that Table 1 reports for wide PBGNet.

    Examples
    --------
    >>> row = Table1Row("ads", "wide", "PBGNet", 1, 10, 0.2, 0.1, 0.1, None, 0.1, learning_rate=0.01)
    >>> exact_settings([row], repetitions=1)
    [Setting(dataset='ads', model='PBGNet', hidden_layer_sizes=(10,), learning_rate=0.01, repetition=0,
     trial_epochs=None, variant='exact')]
    """
    settings = []
    for row in table1:
        if (row.model, row.architecture) != ("PBGNet", "wide"):
            continue
        sizes = (row.width,) * row.hidden_layers
        for repetition in range(repetitions):
            settings.append(Setting(row.dataset, row.model, sizes, row.learning_rate, repetition, variant=VARIANT))
    return settings


def exact_rows(table1: Sequence[Table1Row], results: Iterable[Result]) -> list[ExactRow]:
    """Return a row for each data set whose reported setting has runs with exact outputs."""
    wanted = set(exact_settings(table1))
    results_by_dataset = by_cell((r for r in results if r.setting in wanted), lambda setting: setting.dataset)
    rows = []
    for sampled in table1:
        exact = results_by_dataset.get(sampled.dataset, [])
        if (sampled.model, sampled.architecture) != ("PBGNet", "wide") or not exact:
            continue
        rows.append(
            ExactRow(
                dataset=sampled.dataset,
                hidden_layers=sampled.hidden_layers,
                width=sampled.width,
                learning_rate=sampled.learning_rate or 0.0,
                sampled_bound=sampled.bound,
                bound=mean(exact, "bound"),
                bound_std=deviation(exact, "bound"),
                sampled_test_error=sampled.test_error,
                test_error=mean(exact, "test_error"),
                test_error_std=deviation(exact, "test_error"),
                repetitions=len(exact),
            )
        )
    return rows


def exact_to_csv(rows: Iterable[ExactRow]) -> str:
    """Return rows as CSV."""
    return records_to_csv(rows, ExactRow)


def read_exact(text: str) -> list[ExactRow]:
    """Read rows from CSV."""
    return read_records(text, ExactRow, texts=("dataset",), whole_numbers=("hidden_layers", "width", "repetitions"))


def exact_to_markdown(rows: Sequence[ExactRow]) -> str:
    """Return the rows as a Markdown table, beside the paper's."""
    header = [
        "data set",
        "setting",
        "bound, exact",
        "sampled",
        "paper",
        "test error, exact",
        "sampled",
        "paper",
        "rep.",
    ]
    paper = {row.cell: row for row in paper_table()}
    lines = []
    for row in rows:
        published = paper.get((row.dataset, "wide", "PBGNet"))
        paper_bound = ""
        paper_error = ""
        if published is not None:
            paper_bound = number_cell(published.bound, 3)
            paper_error = number_cell(published.test_error, 3)
        lines.append(
            [
                row.dataset,
                f"{row.hidden_layers}×{row.width}, {row.learning_rate:g}",
                number_with_deviation(row.bound, row.bound_std, _DIGITS),
                number_cell(row.sampled_bound, _DIGITS),
                paper_bound,
                number_with_deviation(row.test_error, row.test_error_std, _DIGITS),
                number_cell(row.sampled_test_error, _DIGITS),
                paper_error,
                str(row.repetitions),
            ]
        )
    return markdown_table(header, lines)
