"""Tables from CSV and Parquet files, through Polars, and the column to predict."""

from abnet.tables.file_batches import batches, read_table
from abnet.tables.notes import Note, note_lines
from abnet.tables.table_errors import TableError
from abnet.tables.target import split_target

__all__ = ["Note", "TableError", "batches", "note_lines", "read_table", "split_target"]
