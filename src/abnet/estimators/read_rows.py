"""Read the rows of a table for a classifier, with the labels and the groups taken out."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.certificates.random_seed import drawn_seed
from abnet.estimators.certified import CertifiedClassifier
from abnet.estimators.fitting_mixin import FittingMixin
from abnet.tables import TableError
from abnet.tables.loaded_rows import LoadedRows, load_rows
from abnet.tables.named_columns import NamedColumnError, cell_texts, check_named, without_group
from abnet.tables.preparation import TablePreparation
from abnet.tables.table import as_table
from abnet.tables.table_errors import UnknownColumnError, listed
from abnet.tables.table_source import TableSource
from abnet.tables.target_bins import bin_names
from abnet.training.features import is_our_own
from abnet.training.settings import Settings
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["check_roles", "check_streamable", "for_tables", "read_rows"]


def check_roles(
    target: str,
    drop: Sequence[str],
    group: str | None,
    preparation: TablePreparation | None,
    time: str | None = None,
) -> None:
    """Raise a ParameterError for a column with two roles: target, group, time, dropped column or feature.

    Examples
    --------
    >>> check_roles("left", ["id"], "left", None)
    Traceback (most recent call last):
    abnet.utils.errors.ParameterError: group: 'left' is the target, so name another column.
    """
    roles = {target: "is the target"}
    _check_free("drop", drop, roles)
    roles = {**dict.fromkeys(drop, "is dropped"), **roles}
    if group is not None:
        _check_free("group", [group], roles)
        roles[group] = "names the groups"
    if time is not None:
        _check_free("time", [time], roles)
        roles[time] = "holds the times"
    if preparation is not None:
        for parameter, names in preparation.named_columns().items():
            _check_free(parameter, names, roles)


def _check_free(parameter: str, names: Iterable[str], roles: dict[str, str]) -> None:
    """Raise a ParameterError if a column that the parameter names has another role."""
    for name in names:
        if name in roles:
            raise ParameterError("{}: {!r} {}, so name another column.", Parameter(parameter), name, roles[name])


def for_tables(estimator: FittingMixin | None) -> FittingMixin:
    """An unfitted copy with a seed and a preparation for tables; `read_rows` checks its settings.

    Examples
    --------
    >>> for_tables(None).preprocessor
    TablePreparation()
    """
    classifier: Any = CertifiedClassifier()
    if estimator is not None:
        classifier = clone(estimator)
    if not isinstance(classifier, FittingMixin):
        kind = type(classifier).__name__
        raise TypeError(f"estimator must be a certified classifier, such as CertifiedClassifier(); got a {kind}.")
    classifier.set_params(random_state=drawn_seed(classifier.random_state))
    if classifier.preprocessor is None or isinstance(classifier.preprocessor, str):
        classifier.set_params(preprocessor=TablePreparation())
    if isinstance(classifier.preprocessor, TablePreparation):
        classifier.preprocessor.column_options()
    return classifier


def read_rows(
    classifier: FittingMixin,
    source: TableSource,
    target: str,
    *,
    drop: Sequence[str] = (),
    group: str | None = None,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    max_learn_rows: int = sys.maxsize,
    at_least: int,
    time: str | None = None,
) -> tuple[LoadedRows, NDArray[Any] | None]:
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
    time : str, optional
        As for `abnet.fit_table`.

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
    if time is not None and isinstance(bins, int):
        raise ParameterError(
            "{} uses quantiles of rows of all times, and the classes must be known in the past: pass the cut points.",
            Parameter("bins"),
        )
    preparation = None
    if isinstance(classifier.preprocessor, TablePreparation):
        preparation = classifier.preprocessor
    check_roles(target, drop, group, preparation, time)
    settings = classifier.settings()
    try:
        rows = load_rows(
            lambda: _without_columns(source.frames(), drop),
            target,
            max_learn_rows=max_learn_rows,
            share=settings.share,
            seed=classifier.random_state,
            missing_label=missing_label,
            bins=bins,
            time=time,
        )
    except NamedColumnError:
        raise
    except UnknownColumnError as error:
        raise NamedColumnError("{}: {}", Parameter("target"), error) from error
    if rows.n_rows < at_least:
        raise TableError(
            f"the table has {number_of(rows.n_rows, 'labelled row')}; at least {at_least} are needed, to train on one "
            "part and certify on the other."
        )
    if rows.held_out is not None:
        check_streamable(settings)
    if preparation is not None:
        check_named("use", preparation.named_columns()["use"], rows.X.columns)
    if rows.cuts and classifier.get_params().get("classes", ()) is None:
        classifier.set_params(classes=list(bin_names(rows.cuts)))
    return _take_groups(rows, group)


def check_streamable(settings: Settings) -> None:
    """Raise an error for settings that need the bound rows in memory, or whose preprocessor may look at other rows."""
    if not is_our_own(settings.preprocessor):
        raise ParameterError(
            "{} must be 'auto', 'table' or a TablePreparation for a table with more than {} rows: another preprocessor "
            "may depend on the batch, and held-out rows are streamed in batches.",
            Parameter("preprocessor"),
            Parameter("max_learn_rows"),
        )
    if settings.objective == "loss":
        raise _needs_memory("objective", "loss", "bound")
    if not settings.split:
        raise _needs_memory("prior", "init", "split")
    if not settings.frozen:
        raise _needs_memory("posterior", "train", "frozen")


def _needs_memory(name: str, value: str, instead: str) -> ParameterError:
    return ParameterError(
        "{} needs all rows in memory, and the table has more rows than {} allows: use {}, or raise that limit.",
        Parameter(name, value),
        Parameter("max_learn_rows"),
        Parameter(name, instead),
    )


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


def _take_groups(rows: LoadedRows, group: str | None) -> tuple[LoadedRows, NDArray[Any] | None]:
    """Take the group column out of the rows; without a column name, nothing changes."""
    if group is None:
        return rows, None
    check_named("group", [group], rows.X.columns)
    if rows.held_out is not None:
        raise ParameterError(
            "{} needs all rows in memory, and the table has more rows than {} allows: raise that limit.",
            Parameter("group"),
            Parameter("max_learn_rows"),
        )
    table = as_table(rows.X)
    names = cell_texts(table, group)
    missing = [table.row(row) for row, name in enumerate(names) if name is None]
    if missing:
        raise TableError(f"column {group!r}: {without_group(missing)}")
    return replace(rows, X=rows.X.drop(group)), np.array(names)
