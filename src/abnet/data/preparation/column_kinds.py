"""The kinds of columns that a table may have."""

from typing import Any

from abnet import records
from abnet.data.preparation.columns import BooleanColumn, DateColumn, NumericColumn, TextColumn
from abnet.data.preparation.words import WordsColumn

__all__ = ["Column", "column_from_dict"]

Column = NumericColumn | BooleanColumn | DateColumn | TextColumn | WordsColumn
"""Each has a `name`, the names of its `features`, `encode` for them, and `raw` for the numbers behind them, if any."""

_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (NumericColumn, BooleanColumn, DateColumn, TextColumn, WordsColumn)
}  # fmt: skip


def column_from_dict(record: Any, where: str, version: int) -> Column:
    """The column of the kind that a record names."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise records.refusal(f"{where}.kind", f"be one of {sorted(_KINDS)}", kind)
    return _KINDS[kind].from_dict({key: value for key, value in record.items() if key != "kind"}, where, version)
