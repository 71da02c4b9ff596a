"""Tables from CSV and Parquet files, through Polars, and the column to predict."""

from abnet.tables.cells import Note, TableError
from abnet.tables.frames import split_target
from abnet.tables.reading import batches, read_table

__all__ = ["Note", "TableError", "batches", "read_table", "split_target"]
