"""The kinds of columns: how a kind is recognised, fitted, stored, and turned into features.

A new kind is a new file in this folder: a subclass of `Column` with `kind`, and a function with `rule` that recognises
it.
"""

import sys

from abnet.tables.columns.boolean import BooleanColumn
from abnet.tables.columns.column import KINDS, Column
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.date import YEAR, DateColumn
from abnet.tables.columns.hashed import HashedColumn
from abnet.tables.columns.numeric import LARGEST, NumericColumn, read_numbers
from abnet.tables.columns.outliers import far_cells, far_notes
from abnet.tables.columns.rule_registry import RULES, Chosen
from abnet.tables.columns.scaling import CLIP
from abnet.tables.columns.text import TextColumn
from abnet.tables.columns.words import WordsColumn
from abnet.utils.lazy import import_folder

__all__ = [
    "CLIP",
    "KINDS",
    "LARGEST",
    "RULES",
    "YEAR",
    "BooleanColumn",
    "Chosen",
    "Column",
    "ColumnOptions",
    "DateColumn",
    "HashedColumn",
    "NumericColumn",
    "TextColumn",
    "WordsColumn",
    "far_cells",
    "far_notes",
    "read_numbers",
]

import_folder(sys.modules[__name__])
