"""CSV files of frozen records: one column for each field, an empty cell for None."""

import csv
import io
from collections.abc import Collection, Iterable
from dataclasses import fields
from typing import Any, TypeVar

__all__ = ["read_records", "records_to_csv"]

_Record = TypeVar("_Record")


def records_to_csv(records: Iterable[Any], kind: type[Any]) -> str:
    """Return records of one dataclass as CSV; floats have 6 digits."""
    names = [field.name for field in fields(kind)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        writer.writerow([_cell(getattr(record, name)) for name in names])
    return out.getvalue()


def read_records(
    text: str, kind: type[_Record], *, texts: Collection[str], whole_numbers: Collection[str]
) -> list[_Record]:
    """Read what `records_to_csv` writes; lines that begin with # are comments.

    Parameters
    ----------
    text : str
    kind : type
        The dataclass. A field with a default may have no column.
    texts, whole_numbers : collection of str
        Fields that hold text and whole numbers; the others hold floats.
    """
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    records = []
    for line in csv.DictReader(lines):
        values: dict[str, Any] = {}
        for name, cell in line.items():
            if name in texts:
                values[name] = cell
            elif not cell:
                values[name] = None
            elif name in whole_numbers:
                values[name] = int(cell)
            else:
                values[name] = float(cell)
        records.append(kind(**values))
    return records


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value
