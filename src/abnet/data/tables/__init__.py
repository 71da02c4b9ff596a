"""Tables from CSV and Parquet files, through Polars, and the column to predict."""

from abnet.data.tables.error import TableError
from abnet.data.tables.learning_draw import LearningDraw, learning_rows
from abnet.data.tables.note import Note
from abnet.data.tables.reading import batches, read_table
from abnet.data.tables.target import split_target

__all__ = ["LearningDraw", "Note", "TableError", "batches", "learning_rows", "read_table", "split_target"]
