"""The rows of `results/validation.csv`: read, write, and recompute what follows from their counts."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binom, binomtest

from abnet.utils.atomic import atomic_path
from simulation import Simulation

__all__ = ["COLUMNS", "Row", "read_rows", "write_rows"]

COLUMNS = ("promise", "setting", "trap", "delta", "repetitions", "false", "rate", "low", "high", "p_value")


@dataclass(frozen=True)
class Row(Simulation):
    """A simulation, and the promise that it belongs to: the name of its page and of its module."""

    promise: str = ""

    @classmethod
    def of(cls, promise: str, made: Simulation) -> "Row":
        """A row for a simulation."""
        return cls(made.setting, made.delta, made.repetitions, made.false, made.trap, promise)

    @property
    def rate(self) -> float:
        """Share of false statements."""
        return self.false / self.repetitions

    @property
    def interval(self) -> tuple[float, float]:
        """Exact two-sided 95% limits of the probability of a false statement."""
        found = binomtest(self.false, self.repetitions).proportion_ci(0.95, "exact")
        return float(found.low), float(found.high)

    @property
    def p_value(self) -> float:
        """Probability of so many false statements, or more, if each were false with probability δ."""
        return float(binom.sf(self.false - 1, self.repetitions, self.delta))

    def fields(self) -> dict[str, str]:
        """Texts for the columns."""
        low, high = self.interval
        return {
            "promise": self.promise,
            "setting": self.setting,
            "trap": str(int(self.trap)),
            "delta": f"{self.delta:g}",
            "repetitions": str(self.repetitions),
            "false": str(self.false),
            "rate": f"{self.rate:.5f}",
            "low": f"{low:.5f}",
            "high": f"{high:.5f}",
            "p_value": f"{self.p_value:.3g}",
        }


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, checked against their counts; no rows if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(fields) for fields in csv.DictReader(file)]


def _row(fields: dict[str, str]) -> Row:
    counts = {"repetitions": int(fields["repetitions"]), "false": int(fields["false"])}
    trap = fields["trap"] == "1"
    row = Row(fields["setting"], float(fields["delta"]), trap=trap, promise=fields["promise"], **counts)
    if row.fields() != fields:
        raise ValueError(f"{row.promise}, {row.setting}: the columns do not follow from the counts.")
    return row


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a file, sorted by promise."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.fields() for row in sorted(rows, key=lambda row: row.promise))
