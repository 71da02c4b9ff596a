"""A model that was fitted on groups of rows is certified on groups, or on rows that share no group."""

import shlex
import warnings
from collections.abc import Sequence
from typing import Any

from abnet.certificates.recorded_model import FitRecord, inner_model
from abnet.utils.caller_rows import column_names, take_column
from abnet.utils.errors import NamesParameters, Parameter

__all__ = ["GroupedRowsError", "check_groups", "check_single_rows"]


class GroupedRowsError(NamesParameters, ValueError):
    """Raised if rows of the same group would be counted as independent rows."""


def check_single_rows(record: FitRecord, cells: Sequence[Any] | None, parameter: str | None) -> str | None:
    """Raise an error if rows share a group; the note about a certificate that counts single rows, if one is needed.

    Parameters
    ----------
    record : FitRecord
        Of the fit, such as `abnet.model.Card`.
    cells : sequence or None
        Cells of the group column with which the model was fitted; None if it is not among the columns.
    parameter : str or None
        The parameter that takes the groups; None if nothing is certified about groups here.

    Examples
    --------
    >>> from abnet.model.card import Card
    >>> check_single_rows(Card(), None, "group") is None
    True
    >>> check_single_rows(Card(n_training_groups=9, group="patient"), ["a", "b"], "group") is None
    True
    >>> check_single_rows(Card(n_training_groups=9, group="patient"), ["a", "a"], "group")
    Traceback (most recent call last):
    abnet.certificates.grouped_rows.GroupedRowsError: the model was fitted on groups of rows, and rows of this table
    share a group (column 'patient'): add group='patient'. A bound that counts single rows does not hold for them.
    """
    if not record.n_training_groups:
        return None
    group = record.group
    if cells is None:
        named = ""
        if isinstance(group, str):
            named = f" (column {group!r})"
        return (
            f"the model was fitted on groups of rows{named}, and its own certificate is about a new group; this "
            "one counts single rows, and holds only if no two of them belong to the same group"
        )
    known = [cell for cell in cells if cell is not None and cell == cell]
    if len(set(known)) == len(cells):
        return None
    shared = "the model was fitted on groups of rows, and rows of this table share a group (column {!r}): "
    why = "A bound that counts single rows does not hold for them."
    if parameter is None:
        raise GroupedRowsError(f"{shared}keep one row of each group. {why}", group)
    raise GroupedRowsError(f"{shared}add {{}}. {why}", group, Parameter(parameter, shlex.quote(str(group))))


def check_groups(model: Any, X: Any, parameter: str | None) -> None:
    """`check_single_rows` for rows in any form, with its note as a warning.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Only a model of this library knows about groups.
    X : array or frame
    parameter : str or None
        As for `check_single_rows`.
    """
    inner = inner_model(model, X)
    if inner is None:
        return
    record = inner.model.card
    cells = None
    if record.group in column_names(inner.rows):
        cells = take_column(inner.rows, record.group).tolist()
    note = check_single_rows(record, cells, parameter)
    if note is not None:
        instead = "keep one row of each group"
        if parameter is not None:
            instead = f"pass {parameter} to certify a new group"
        warnings.warn(f"{note[0].upper()}{note[1:]}: {instead}.", stacklevel=3)
