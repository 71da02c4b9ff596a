"""Tables from CSV and Parquet files, and the column to predict."""

from abnet.data.tables.error import TableError
from abnet.data.tables.reading import read_chunks, read_table
from abnet.data.tables.target import split_target

__all__ = ["TableError", "read_chunks", "read_table", "split_target"]
