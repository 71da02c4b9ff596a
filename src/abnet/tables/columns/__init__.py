"""The kinds of columns, one file each: how a kind is recognised, fitted, stored, and turned into features.

A new kind is a new file in this folder: a subclass of `Column` with `kind`, and a function with `rule` that knows it.
"""

import sys

from abnet.tables.columns.boolean import BooleanColumn
from abnet.tables.columns.column import KINDS, RULES, Chosen, Column, Rules
from abnet.tables.columns.date import YEAR, DateColumn
from abnet.tables.columns.numeric import CLIP, LARGEST, NumericColumn, far_cells, far_notes, read_numbers
from abnet.tables.columns.text import TextColumn
from abnet.tables.columns.words import HashedColumn, WordsColumn
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
    "DateColumn",
    "HashedColumn",
    "NumericColumn",
    "Rules",
    "TextColumn",
    "WordsColumn",
    "far_cells",
    "far_notes",
    "read_numbers",
]

import_folder(sys.modules[__name__])
