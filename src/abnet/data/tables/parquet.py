"""Parquet files, through pyarrow."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from abnet.data.tables.error import TableError, listed

__all__ = ["parquet_chunks"]


def parquet_chunks(path: Path, rows: int | None, progress: Callable[[float], None] | None) -> Iterator[pd.DataFrame]:
    """Frames of at most `rows` rows (None: all of them) with the file's own types; at least one frame."""
    arrow, parquet = _pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            columns = _columns(path, file.schema_arrow.names)
            total, start = file.metadata.num_rows, 0
            for batch in file.iter_batches(batch_size=rows or max(total, 1)):
                # pandas' own metadata would turn columns back into an index, and types by chunk.
                frame = batch.to_pandas(ignore_metadata=True)[columns]
                frame.index = pd.RangeIndex(start, start + len(frame))
                start += len(frame)
                if progress is not None:
                    progress(start / total)
                yield frame
    except (arrow.ArrowException, OSError) as error:
        raise TableError(f"{path} is not a whole Parquet file ({_first_line(error)}).") from error
    if start == 0:
        raise TableError(f"{path} has columns but no rows.")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'abnet[parquet]'.") from error
    return pyarrow, pyarrow.parquet


def _columns(path: Path, names: list[str]) -> list[str]:
    """Names of the columns, without the index that pandas may have written beside them."""
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise TableError(f"{path}: column names must differ, but {listed(repeated)} repeat; rename them.")
    return [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
