"""The choice of columns: a named step before the recipe that looks at training rows.

Networks do not find a few columns among many of noise. If a table has at least `LEAST_COLUMNS` columns, and at most
half of them predict held-back training rows better than all do, the others are left out of the preparation, as
constant columns are, with a note. No held-out row has a part in it, so no certificate has to account for the choice.
"""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns import CLIP, NumericColumn
from abnet.tables.notes import Note
from abnet.tables.preparation.scalers import StandardMap
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.training.column_ranking import useful_columns
from abnet.training.features import Features
from abnet.training.learned import PreparedRows
from abnet.training.settings import Settings

__all__ = ["LEAST_COLUMNS", "choose_columns", "without_columns"]

LEAST_COLUMNS = 80
"""Tables with fewer columns keep all of them."""


def choose_columns(
    rows: PreparedRows, settings: Settings, names: tuple[str, ...] | None, rng: np.random.Generator
) -> PreparedRows:
    """The rows without the columns that do not help to predict; the same rows if there are none, or no way to tell.

    Parameters
    ----------
    rows : PreparedRows
    settings : Settings
    names : tuple of str or None
        Names of the columns of an array, if it has any.
    rng : numpy.random.Generator
    """
    features = rows.features
    if not _may_choose(rows, settings):
        return rows
    as_table = _as_table_map(features, names)
    n_first = rows.n_first
    weights = rows.weights
    if weights is not None:
        weights = weights[:n_first]
    groups = rows.groups
    if groups is not None:
        groups = groups[:n_first]
    useful = useful_columns(features.first, features.cells, rows.codes[:n_first], rng, weights=weights, groups=groups)
    if useful is None:
        return rows
    named = _named(settings.preprocessor)
    requested = [place for place, column in enumerate(as_table.columns) if column.name in named]
    kept = np.union1d(useful, np.array(requested, np.intp))
    return replace(rows, features=without_columns(features, as_table, kept))


def _may_choose(rows: PreparedRows, settings: Settings) -> bool:
    """Whether it is a recipe of ours, not just given widths, for a table with many columns that we prepare."""
    preprocessor = settings.preprocessor
    own = isinstance(preprocessor, str) or type(preprocessor) is TablePreparation
    of_our_recipe = settings.hidden is None or not settings.members.alone
    features = rows.features
    if not own or not of_our_recipe or features.sparse or not rows.n_first:
        return False
    stored = features.stored
    return isinstance(stored, TableMap | StandardMap) and (stored.n_features_in or 0) >= LEAST_COLUMNS


def _as_table_map(features: Features, names: tuple[str, ...] | None) -> TableMap:
    """The preparation as one of named columns; those of an array are ``x0``, ``x1`` and so on."""
    stored = features.stored
    if isinstance(stored, TableMap):
        return stored
    assert isinstance(stored, StandardMap)
    names = names or tuple(f"x{place}" for place in range(stored.n_features_in))
    scalings = zip(names, stored.mean, stored.scale, strict=True)
    return TableMap(tuple(NumericColumn(name, mean, mean, scale, False) for name, mean, scale in scalings))


def _named(preprocessor: Any) -> set[str]:
    """Columns that the user wants to be used."""
    if not isinstance(preprocessor, TablePreparation):
        return set()
    return {name for names in preprocessor.named_columns().values() for name in names}


def without_columns(features: Features, table_map: TableMap, kept: NDArray[np.intp]) -> Features:
    """Features of some columns; a note names the others.

    Parameters
    ----------
    features : Features
    table_map : TableMap
        The preparation of all columns, as one of named columns.
    kept : int array
        Places of the columns that are kept, in increasing order.
    """
    is_kept = np.zeros(len(table_map.columns), np.bool_)
    is_kept[kept] = True
    columns = tuple(table_map.columns[place] for place in kept.tolist())
    left_out = tuple(
        column.name for column, stays in zip(table_map.columns, is_kept.tolist(), strict=True) if not stays
    )
    notes = tuple(note for note in table_map.notes if not set(note.columns) & set(left_out))
    n_columns = len(table_map.columns)
    facts: dict[str, str | int | float] = {"kept": len(columns), "all": n_columns}
    note = Note("columns that do not help", left_out, features.n_first, facts=facts)
    training = features.training
    if training is not None:
        places = np.flatnonzero(is_kept).tolist()
        training = msgspec.structs.replace(training, columns=tuple(training.columns[place] for place in places))
    base = np.ascontiguousarray(features.base[:, is_kept[features.cells]])
    if not isinstance(features.stored, TableMap):
        base = np.clip(base, -CLIP, CLIP)  # as the features of tables are
    return replace(
        features,
        base=base,
        stored=TableMap(columns, (*notes, note)),
        training=training,
        chosen_columns=(len(columns), n_columns),
    )
