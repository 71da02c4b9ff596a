"""What the preprocessor "auto" means for some rows.

This is the only "auto" that is not answered by `abnet.training.resolve`, which knows numbers of rows, columns and
classes: it looks at the types of the columns, and at missing and extreme values, of the training rows. No bound row has
a part in it, so it is not a choice that a bound has to account for.
"""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.preparation.array_checks import has_far_cells
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.tables.table import as_table
from abnet.training.labelled_rows import LabelledRows
from abnet.utils.caller_rows import take_rows

__all__ = ["choose_preprocessor"]


def choose_preprocessor(rows: LabelledRows, preprocessor: Any, fit_on: NDArray[np.intp] | None, *, scaled: bool) -> Any:
    """The transformer for "auto" and "table"; any other preprocessor is returned unchanged.

    Parameters
    ----------
    rows : LabelledRows
    preprocessor : transformer, str or None
    fit_on : array of indices or None
        Rows to fit it on, None for all; the cells of other rows have no influence.
    scaled : bool
        Whether numbers are scaled; with explicit widths, inputs are left unscaled.
    """
    if not isinstance(preprocessor, str):
        return preprocessor
    if preprocessor == "table":
        return TablePreparation()
    if preprocessor != "auto":
        return preprocessor
    if rows.is_frame:
        return _for_frame(rows.X, fit_on, scaled=scaled)
    if hasattr(rows.X, "tocsr"):
        return _for_sparse(scaled=scaled)
    return _for_array(rows.X, fit_on, scaled=scaled)


def _for_frame(X: Any, fit_on: NDArray[np.intp] | None, *, scaled: bool) -> Any:
    """A table, unless it holds nothing but numbers that are left as they are."""
    # A single cell, in any row, is enough to make a pandas column non-numeric.
    if not scaled and _has_typed_numbers(take_rows(X, fit_on)):
        return PlainNumbers()
    return TablePreparation()


def _for_sparse(*, scaled: bool) -> Any:
    if not scaled:
        return None
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=False)


def _for_array(X: NDArray[Any], fit_on: NDArray[np.intp] | None, *, scaled: bool) -> Any:
    """Numbers are standardised; those with missing or extreme values need a preparation of this library."""
    if _has_gaps(X):
        # Rows without missing values are mapped alike, even if a row outside the first part has a missing value.
        is_incomplete = np.isnan(X).any(axis=1)
        if scaled and take_rows(is_incomplete, fit_on).any():
            return TablePreparation()
        return PlainNumbers(scaled=scaled)
    if not scaled:
        return None
    if has_far_cells(take_rows(X, fit_on)):
        return PlainNumbers(scaled=True)
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def _has_gaps(X: NDArray[Any]) -> bool:
    """Whether an array has missing values: NaN."""
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers too large to be scaled, which are reported later
        total = X.sum()
    return bool(np.isnan(total)) and bool(np.isnan(X).any())


def _has_typed_numbers(frame: Any) -> bool:
    """Whether all columns of a frame have a numeric type, or are objects that are numbers or missing."""
    columns = list(as_table(frame).columns.values())
    return bool(columns) and all(map(_is_typed_number, columns))


def _is_typed_number(column: Any) -> bool:
    name = str(column.dtype).lower()
    if name != "object" or not hasattr(column, "isna"):
        return name.startswith(("int", "uint", "float"))
    return all(_is_number(value) for value in column[~column.isna()].to_list())


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
