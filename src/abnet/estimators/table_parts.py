"""Labelled rows with their groups: read them from a table, split them at random, take some of them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.certified import CertifiedClassifier
from abnet.tables import TableError
from abnet.tables.binning import bin_names
from abnet.tables.named_columns import NamedColumnError, cell_texts, check_named, without_group
from abnet.tables.preparation import TablePreparation
from abnet.tables.table import as_table
from abnet.tables.table_errors import UnknownColumnError, listed
from abnet.tables.table_source import TableSource
from abnet.tables.training_part import TrainingPart, choose_training_part
from abnet.utils.caller_rows import take_rows
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["Labelled", "check_roles", "for_tables", "read_rows", "take", "two_random_parts"]


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
    """Indices of about ``fraction · n`` rows, chosen by a hash of their content, and of the rest; groups stay whole."""
    split = Split.of(row_hashes(data.X, data.y), fraction, seed, data.groups)
    return split.first, split.counted


def check_roles(target: str, drop: Sequence[str], group: str | None, preparation: TablePreparation | None) -> None:
    """Raise a ParameterError for a column with two roles: target, group, dropped column or feature.

    Examples
    --------
    >>> check_roles("left", ["id"], "left", None)
    Traceback (most recent call last):
    abnet.utils.errors.ParameterError: group: 'left' is the target, so name another column.
    """
    named = {"drop": drop, "group": [] if group is None else [group]}
    if preparation is not None:
        named |= preparation.named_columns()
    for parameter, names in named.items():
        taken = {target: "is the target"}
        if parameter != "drop":
            taken = {**dict.fromkeys(drop, "is dropped"), **taken}
        if parameter not in ("drop", "group") and group is not None:
            taken[group] = "names the groups"
        twice = next((name for name in names if name in taken), None)
        if twice is not None:
            raise ParameterError("{}: {!r} {}, so name another column.", Parameter(parameter), twice, taken[twice])


def for_tables(estimator: CertificateMixin | None) -> CertificateMixin:
    """An unfitted copy with a seed and a preparation for tables; `read_rows` checks its settings.

    Examples
    --------
    >>> for_tables(None).preprocessor
    TablePreparation()
    """
    made = CertifiedClassifier() if estimator is None else clone(estimator)
    if not isinstance(made, CertificateMixin):
        raise TypeError(
            f"estimator must be a certified classifier, such as CertifiedClassifier(); got a {type(made).__name__}."
        )
    made.set_params(random_state=drawn_seed(made.random_state))
    if made.preprocessor is None or isinstance(made.preprocessor, str):
        made.set_params(preprocessor=TablePreparation())
    if isinstance(made.preprocessor, TablePreparation):
        made.preprocessor.column_options()
    return made


def read_rows(
    classifier: CertificateMixin,
    source: TableSource,
    target: str,
    *,
    drop: Sequence[str] = (),
    group: str | None = None,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    max_learn_rows: int = sys.maxsize,
    at_least: int,
) -> tuple[TrainingPart, NDArray[Any] | None]:
    """Read a table, and take the target and the groups out of it; of a large table, only the training rows.

    Parameters
    ----------
    classifier : certified classifier
        Unfitted, from `for_tables`; its `classes` are set if the target is cut into bins.
    source : TableSource
    target : str
        Column with the labels.
    drop, group, missing_label, bins, max_learn_rows
        As for `abnet.fit_table`.
    at_least : int
        Minimum number of rows.

    Raises
    ------
    ParameterError
        If a named column is not in the table, or the table is too large for groups.
    TableError
        If the table itself cannot be used.
    """
    if group is not None and isinstance(bins, int):
        raise ParameterError(
            "{} uses quantiles of rows, and rows of one group are not independent: pass the cut points.",
            Parameter("bins"),
        )
    preparation = classifier.preprocessor if isinstance(classifier.preprocessor, TablePreparation) else None
    check_roles(target, drop, group, preparation)
    settings = classifier.settings()
    try:
        part = choose_training_part(
            lambda: _without_columns(source.frames(), drop),
            target,
            max_learn_rows=max_learn_rows,
            share=settings.share,
            seed=classifier.random_state,
            missing_label=missing_label,
            bins=bins,
        )
    except NamedColumnError:
        raise
    except UnknownColumnError as error:
        raise NamedColumnError("{}: {}", Parameter("target"), error) from error
    if part.n_rows < at_least:
        raise TableError(
            f"the table has {number_of(part.n_rows, 'labelled row')}; at least {at_least} are needed, to train on one "
            "part and certify on the other."
        )
    if preparation is not None:
        check_named("use", preparation.named_columns()["use"], part.X.columns)
    if part.cuts and classifier.get_params().get("classes", ()) is None:
        classifier.set_params(classes=list(bin_names(part.cuts)))
    return _take_groups(part, group)


def _without_columns(frames: "Iterable[polars.DataFrame]", drop: Sequence[str]) -> "Iterator[polars.DataFrame]":
    """Frames without the dropped columns; raise a NamedColumnError if one of these is not in the table."""
    for frame in frames:
        unknown = [name for name in drop if name not in frame.columns]
        if unknown:
            raise NamedColumnError(
                "{}: no column {} in the table; its columns are {}.",
                Parameter("drop"),
                listed(unknown),
                listed(frame.columns),
            )
        yield frame.drop(list(drop))


def _take_groups(part: TrainingPart, group: str | None) -> tuple[TrainingPart, NDArray[Any] | None]:
    """Take the group column out of the rows; without a column name, nothing changes."""
    if group is None:
        return part, None
    check_named("group", [group], part.X.columns)
    if part.learns is not None:
        raise ParameterError(
            "{} needs all rows in memory, and the table has more rows than {} allows: raise that limit.",
            Parameter("group"), Parameter("max_learn_rows"),
        )  # fmt: skip
    table = as_table(part.X)
    names = cell_texts(table, group)
    missing = [table.row(row) for row, name in enumerate(names) if name is None]
    if missing:
        raise TableError(f"column {group!r}: {without_group(missing)}")
    return replace(part, X=part.X.drop(group)), np.array(names)
