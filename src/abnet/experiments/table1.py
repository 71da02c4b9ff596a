"""Table 1: for each data set, architecture and model, the selected setting and its figures."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from importlib.resources import files

from abnet.experiments.result import Result
from abnet.experiments.selection import Selected, by_cell, choose, deviation, mean
from abnet.experiments.setting import MODELS, NARROW_WIDTHS, WIDE_WIDTHS, Architecture, Setting

__all__ = ["Row", "paper_table", "read_csv", "table1", "to_csv"]

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
        Mean Gibbs bound, an estimate: the setting is selected without paying for it. None for EBP, BC and BNN.
    train_error, test_error, map_test_error
        Mean 0-1 errors; of the vote, and of the MAP network.
    test_error_std, bound_std
        PreparedSplit standard deviations over the repetitions.
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


def table1(results: Iterable[Result]) -> list[Row]:
    """Select a setting for each data set, architecture and model that has runs; rows come in the paper's order.

    Runs outside Table 1's grid (Figure 4's of more than 3 hidden layers) do not compete, nor do trials.

    Examples
    --------
    >>> setting = Setting("ads", "EBP", (2,), None, 0)
    >>> result = Result(setting, 0.01, 0.04, 0.05, epochs=30, best_epoch=9, seconds=1.0, validation_error=0.03)
    >>> table1([result])[0].test_error
    0.04
    """
    cells = by_cell((r for r in results if _in_table(r.setting)), lambda s: (s.dataset, s.architecture, s.model))
    rows = [_row(choice) for choice in map(choose, cells.values()) if choice is not None]
    return sorted(rows, key=_place)


def paper_table() -> list[Row]:
    """Return the paper's own Table 1 (see the file for its source)."""
    return read_csv((files("abnet.experiments") / "paper_table1.csv").read_text(encoding="utf-8"))


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
