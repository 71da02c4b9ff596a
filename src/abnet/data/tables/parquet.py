"""Parquet files, through Polars."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from abnet.data.tables.error import TableError

if TYPE_CHECKING:
    import polars

__all__ = ["parquet_frames"]


def parquet_frames(
    source: Path | IO[bytes], name: str, rows: int | None, progress: Callable[[float], None] | None
) -> Iterator["polars.DataFrame"]:
    """Frames of at most `rows` rows (None: all of them) with the file's own types; at least one frame."""
    import polars as pl

    start = 0
    try:
        lazy = pl.scan_parquet(source)
        lazy = lazy.select(_columns(lazy.collect_schema().names()))
        total = 0 if progress is None else lazy.select(pl.len()).collect().item()
        for frame in [lazy.collect()] if rows is None else lazy.collect_batches(chunk_size=rows, maintain_order=True):
            if frame.height:
                start += frame.height
                if progress is not None:
                    progress(start / total)
                yield frame
    except pl.exceptions.DuplicateError as error:
        repeated = re.search(r"'(.*)'", str(error))
        shown = repr(repeated[1]) if repeated else "some"
        raise TableError(f"{name}: column names must differ, but {shown} repeat; rename them.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{name} is not a whole Parquet file ({_first_line(error)}).") from error
    if start == 0:
        raise TableError(f"{name} has columns but no rows.")


def _columns(names: list[str]) -> list[str]:
    """Names of the columns, without the index that pandas may have written beside them."""
    return [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
