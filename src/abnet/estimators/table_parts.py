"""Rows with labels, and groups if they have any: read from a table, split at random, taken in part."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.split import Split, row_hashes
from abnet.errors import Parameter, ParameterError
from abnet.estimators.labelled_rows import take_rows
from abnet.tables import TableError
from abnet.tables.cells import UnknownColumnError
from abnet.tables.frames import as_table
from abnet.tables.named_columns import NamedColumnError, cell_texts, check_named, without_group
from abnet.tables.reading import Learning, TableSource, learning_part, without
from abnet.tables.target import bin_names
from abnet.words import number_of

__all__ = [
    "Labelled",
    "check_bins",
    "check_roles",
    "declare_bins",
    "read_labelled",
    "take",
    "take_groups",
    "two_random_parts",
]


class Labelled(NamedTuple):
    """Features, as a frame or an array, labels, and groups if the rows come in groups."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None = None


def take(data: Labelled, rows: Any) -> Labelled:
    """Some rows of a labelled table or array."""
    groups = None if data.groups is None else data.groups[rows]
    return Labelled(take_rows(data.X, rows), data.y[rows], groups)


def two_random_parts(data: Labelled, fraction: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of about ``fraction · n`` rows by what they hold, and of the rest; of whole groups, if there are any."""
    split = Split.of(row_hashes(data.X, data.y), fraction, seed, data.groups)
    return split.first, split.counted


def check_bins(bins: int | Sequence[float] | None, group: str | None) -> None:
    """Refuse quantiles of rows that come in groups."""
    if group is not None and isinstance(bins, int):
        raise ParameterError(
            "{} takes quantiles of rows, and rows of one group are not independent: give the cut points.",
            Parameter("bins"),
        )


def check_roles(target: str, drop: Sequence[str], group: str | None, rules: Any) -> None:
    """Refuse columns that are named for two things at once: to be predicted, left out, or used as a feature.

    Parameters
    ----------
    target : str
    drop : sequence of str
    group : str or None
    rules : object
        Has `use`, `numeric`, `categorical` and `dates`, as `TablePreparation` has; others name no columns.

    Examples
    --------
    >>> check_roles("left", ["id"], "left", None)
    Traceback (most recent call last):
    abnet.errors.ParameterError: group: 'left' is the target, so name another column.
    """
    named = {"drop": drop, "group": [] if group is None else [group]}
    for parameter in ("use", "numeric", "categorical", "dates"):
        given = getattr(rules, parameter, ())
        named[parameter] = [given] if isinstance(given, str) else given
    for parameter, names in named.items():
        taken = {target: "is the target"}
        if parameter != "drop":
            taken = {**dict.fromkeys(drop, "is dropped"), **taken}
        if parameter not in ("drop", "group") and group is not None:
            taken[group] = "names the groups"
        twice = next((name for name in names if name in taken), None)
        if twice is not None:
            raise ParameterError("{}: {!r} {}, so name another column.", Parameter(parameter), twice, taken[twice])


def declare_bins(classifier: Any, part: Learning) -> None:
    """Give a classifier the classes of a target that was cut, in their order."""
    if part.cuts and classifier.classes is None:
        classifier.set_params(classes=list(bin_names(part.cuts)))


def read_labelled(
    source: TableSource, target: str, *, drop: Sequence[str] = (), use: Sequence[str] = (), at_least: int, **limits: Any
) -> Learning:
    """Read a table and take the target out of it; of a large one, the rows that learn.

    Parameters
    ----------
    source : TableSource
    target : str
        Column with the labels.
    drop, use : sequence of str
        Columns to leave out, and columns to use in any case.
    at_least : int
        Minimum number of rows.
    **limits
        ``max_learn_rows``, ``share`` and ``seed``, as in `abnet.tables.reading.learning_part`.

    Raises
    ------
    ParameterError
        If a column that was named is not in the table.
    TableError
        If the table itself is of no use.
    """
    try:
        part = learning_part(lambda: without(source.frames(), drop), target, **limits)
    except UnknownColumnError as error:
        named = "drop" if str(error).startswith("drop: ") else "target"
        raise NamedColumnError("{}: {}", Parameter(named), str(error).removeprefix("drop: ")) from error
    if part.n_rows < at_least:
        raise TableError(
            f"the table has {number_of(part.n_rows, 'row')}, too few to train on one part and certify on another; "
            f"at least {at_least} are needed."
        )
    check_named("use", use, part.X.columns)
    return part


def take_groups(part: Learning, group: str | None) -> tuple[Learning, NDArray[Any] | None]:
    """The rows without the column that names their groups, and that column; nothing changes without a name.

    Raises
    ------
    ParameterError
        If there is no such column, or the table is too large to be in memory.
    TableError
        If a row has no group.
    """
    if group is None:
        return part, None
    check_named("group", [group], part.X.columns)
    if part.learns is not None:
        raise ParameterError(
            "{} takes all rows into memory, and the table has more rows than {} allows.",
            Parameter("group"), Parameter("max_learn_rows"),
        )  # fmt: skip
    table = as_table(part.X)
    names = cell_texts(table, group)
    missing = [table.row(row) for row, name in enumerate(names) if name is None]
    if missing:
        raise TableError(f"column {group!r}: {without_group(missing)}")
    return replace(part, X=part.X.drop(group)), np.array(names)
