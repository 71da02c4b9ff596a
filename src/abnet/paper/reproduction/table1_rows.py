"""The rows of Table 1: ours, selected among the runs, and the paper's."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from abnet.paper.protocol import DEEPEST_IN_TABLE, NARROW_WIDTHS, TABLE1_VARIANTS, WIDE_WIDTHS
from abnet.paper.reproduction.record_csv import read_records, records_to_csv
from abnet.paper.reproduction.selection import Selected, by_cell, choose, deviation, mean
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import MODELS, Architecture, Setting

__all__ = [
    "TABLE_DATASETS",
    "Table1Row",
    "dataset_order",
    "paper_table",
    "procedure_rows",
    "read_table1",
    "table1_rows",
    "table1_to_csv",
]

TABLE_DATASETS = ("ads", "adult", "mnist17", "mnist49", "mnist56", "mnistLH")
"""The paper's order of rows."""


@dataclass(frozen=True)
class Table1Row:
    """A row of Table 1; its fields are the columns of the CSV file.

    Attributes
    ----------
    dataset, architecture, model
        The cell.
    variant
        The variant of the protocol, a name in `abnet.paper.VARIANTS`; empty for the protocol without changes.
    hidden_layers, width, learning_rate
        The selected setting.
    bound
        Mean Gibbs bound, an estimate, because it does not account for the selection. None for EBP, BC and BNN.
    train_error, test_error, map_test_error
        Mean 0-1 errors; of the vote, and of the MAP network.
    test_error_std, bound_std
        Sample standard deviations over the repetitions.
    repetitions, runs
        Repetitions behind the figures, and runs that were compared to select the setting.
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
    variant: str = ""

    @property
    def cell(self) -> tuple[str, str, str]:
        """Data set, architecture and model."""
        return self.dataset, self.architecture, self.model


def table1_rows(results: Iterable[Result]) -> list[Table1Row]:
    """Select a setting for each data set, architecture and model that has runs; rows come in the paper's order.

    Runs outside Table 1's grid (Figure 4's of more than 3 hidden layers) do not compete, nor do trials. A row uses its
    variant (`abnet.paper.protocol.TABLE1_VARIANTS`) as soon as as many of its runs can be compared as of the protocol
    without changes.

    Examples
    --------
    >>> setting = Setting("ads", "EBP", (2,), None, 0)
    >>> result = Result(setting, 0.01, 0.04, 0.05, epochs=30, best_epoch=9, seconds=1.0, validation_error=0.03)
    >>> table1_rows([result])[0].test_error
    0.04
    """
    by_place: dict[tuple[str, str, str], list[Table1Row]] = {}
    for row in _rows_of_all_procedures(results):
        by_place.setdefault(row.cell, []).append(row)
    rows = []
    for of_cell in by_place.values():
        # Of equal numbers of runs the variant wins, because it comes last.
        rows.append(max(reversed(of_cell), key=lambda row: row.runs or 0))
    return rows


def procedure_rows(results: Iterable[Result]) -> list[Table1Row]:
    """Return the rows of the cells that Table 1 fills by a variant: those of the protocol, and those of the variant."""
    rows = _rows_of_all_procedures(results)
    with_variant = {row.cell for row in rows if row.variant}
    return [row for row in rows if row.cell in with_variant]


def _rows_of_all_procedures(results: Iterable[Result]) -> list[Table1Row]:
    """The rows of every cell by the protocol without changes, and then by the cell's variant."""
    in_table = [result for result in results if _in_table(result.setting)]
    cells = by_cell(in_table, lambda s: (s.dataset, s.architecture, s.model, s.variant))
    rows = []
    for competing in cells.values():
        selected = choose(competing)
        if selected is not None:
            rows.append(_row(selected))
    return sorted(rows, key=_table_order)


def _table_order(row: Table1Row) -> tuple[object, ...]:
    return dataset_order(row.dataset), MODELS.index(row.model), row.architecture, row.variant


def dataset_order(dataset: str) -> tuple[int, str]:
    """Sort key of a data set: the paper's order of rows, then data sets outside the paper by name."""
    if dataset in TABLE_DATASETS:
        return TABLE_DATASETS.index(dataset), dataset
    return len(TABLE_DATASETS), dataset


def paper_table() -> list[Table1Row]:
    """Return the paper's own Table 1 (see the file for its source)."""
    return read_table1((files("abnet.paper.reproduction") / "paper_table1.csv").read_text(encoding="utf-8"))


def table1_to_csv(rows: Iterable[Table1Row]) -> str:
    """Return rows as CSV: the paper's columns, then `bound_std`, `learning_rate`, `repetitions`, `runs`, `variant`."""
    return records_to_csv(rows, Table1Row)


def read_table1(text: str) -> list[Table1Row]:
    """Read rows from CSV; columns after the paper's may be missing. Lines that begin with # are comments."""
    return read_records(
        text,
        Table1Row,
        texts=("dataset", "architecture", "model", "variant"),
        whole_numbers=("hidden_layers", "width", "repetitions", "runs"),
    )


def _in_table(setting: Setting) -> bool:
    one_width = len(set(setting.hidden_layer_sizes)) == 1
    deep = setting.hidden_layers > DEEPEST_IN_TABLE
    variant_of_row = TABLE1_VARIANTS.get((setting.model, setting.architecture))
    if setting.variant not in (None, variant_of_row):
        return False
    return one_width and not deep and setting.width in (*NARROW_WIDTHS, *WIDE_WIDTHS)


def _row(selected: Selected) -> Table1Row:
    setting = selected.setting
    results = selected.results
    return Table1Row(
        dataset=setting.dataset,
        architecture=setting.architecture,
        model=setting.model,
        hidden_layers=setting.hidden_layers,
        width=setting.width,
        bound=mean(results, "bound"),
        train_error=mean(results, "train_error"),
        test_error=mean(results, "test_error"),
        test_error_std=deviation(results, "test_error"),
        map_test_error=mean(results, "map_test_error"),
        bound_std=deviation(results, "bound"),
        learning_rate=setting.learning_rate,
        repetitions=len(results),
        runs=selected.runs,
        variant=setting.variant or "",
    )
