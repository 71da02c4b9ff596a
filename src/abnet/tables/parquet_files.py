"""Read Parquet files, whole or in batches; columns keep their types."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from abnet.tables.table_errors import TableError

if TYPE_CHECKING:
    import polars

__all__ = ["parquet_frames"]

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
"""Names of columns in which pandas stores the index of a frame."""


def parquet_frames(
    source: Path | IO[bytes], name: str, rows: int | None, progress: Callable[[float], None] | None
) -> Iterator["polars.DataFrame"]:
    """Frames of at most `rows` rows (None: all of them) with the file's own types; at least one frame.

    Parameters
    ----------
    source : path or binary stream
    name : str
        Name of the file in error messages.
    rows : int or None
    progress : callable or None
        Called before every frame with the fraction of the rows read so far.
    """
    import polars as pl

    n_read = 0
    try:
        plan = _without_index(pl.scan_parquet(source))
        n_rows = 0
        if progress is not None:
            n_rows = plan.select(pl.len()).collect().item()
        for frame in _collected(plan, rows):
            if not frame.height:
                continue
            n_read += frame.height
            if progress is not None:
                progress(n_read / n_rows)
            yield frame
    except pl.exceptions.DuplicateError as error:
        repeated = re.search(r"'.*'", str(error))
        shown = "one"
        if repeated is not None:
            shown = repeated[0]
        raise TableError(f"{name}: column names must differ, but {shown} repeats; rename one.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        first_line = str(error).strip().split("\n")[0].rstrip(".")
        raise TableError(f"{name} is not a complete Parquet file ({first_line}).") from error
    if n_read == 0:
        raise TableError(f"{name} has columns but no rows.")


def _without_index(plan: "polars.LazyFrame") -> "polars.LazyFrame":
    names = plan.collect_schema().names()
    return plan.select(name for name in names if not _PANDAS_INDEX.fullmatch(name))


def _collected(plan: "polars.LazyFrame", rows: int | None) -> Iterator["polars.DataFrame"]:
    if rows is None:
        yield plan.collect()
    else:
        yield from plan.collect_batches(chunk_size=rows, maintain_order=True)
