"""The kinds of columns, one file each: how a kind is recognised, fitted, stored, and turned into features.

A new kind is a new file in this folder: a subclass of `Column` with `kind`, and a function with `rule` that knows it.
"""

import sys

from abnet.lazy import import_folder
from abnet.preparation.columns.boolean import BooleanColumn
from abnet.preparation.columns.column import KINDS, RULES, Chosen, Column, Rules
from abnet.preparation.columns.date import YEAR, DateColumn
from abnet.preparation.columns.numeric import CLIP, LARGEST, NumericColumn, far_cells, far_notes, read_numbers
from abnet.preparation.columns.text import TextColumn
from abnet.preparation.columns.words import HashedColumn, WordsColumn

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
