"""Columns of numbers: how cells are read, scaled and imputed."""

import numpy as np
from numpy.typing import NDArray

from abnet.tables.column_cells import Cells, Numbers, odd_texts
from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.scaling import check_scaling, filled_and_scaled
from abnet.tables.number_forms import PLAIN, NumberForm
from abnet.tables.table import Table

__all__ = ["LARGEST", "NumericColumn", "allowed_range", "read_numbers"]

LARGEST = 1e150
"""Larger numbers count as missing, as infinite ones do: their variance is not finite."""


def read_numbers(cells: Cells, form: NumberForm = PLAIN) -> Numbers:
    """A column as numbers, NaN where missing, and which cells are not numbers up to `LARGEST` (NaN as well).

    Examples
    --------
    >>> from abnet.tables.table import cells_of
    >>> read_numbers(cells_of(["1", "", "rotary", "1e300"]))
    Numbers(x=array([ 1., nan, nan, nan]), odd=array([False, False,  True,  True]))
    """
    x, odd = cells.numbers(form)
    too_large = (x > LARGEST) | (x < -LARGEST)
    if not too_large.any():
        return Numbers(x, odd)
    return Numbers(np.where(too_large, np.nan, x), odd | too_large)


def allowed_range(text: str) -> str:
    """The allowed range of numbers, for a note on a number outside of it; empty for any other text.

    Examples
    --------
    >>> allowed_range("-1e308"), allowed_range("rotary")
    (' between -1e+150 and 1e+150', '')
    """
    try:
        number = float(text)
    except ValueError:
        return ""
    if abs(number) > LARGEST:
        return f" between {-LARGEST:g} and {LARGEST:g}"
    return ""


@kind
class NumericColumn(Column, frozen=True, tag="numeric"):
    """``(x - mean) / scale`` with `fill` for missing values, and a 0-1 feature that marks them.

    A cell that is not a number of the given form, or larger than `LARGEST`, counts as missing.

    Attributes
    ----------
    fill : float
        The median in fitting.
    mean : float
    scale : float or None
        None if all values were equal in fitting; then there is no scaled feature.
    indicator : bool
        Whether a feature marks missing values: if values were missing in fitting. Without it, a value that is missing
        later is only replaced by `fill`.
    form : NumberForm
        How the numbers are written; x is the number less the offset of the form.
    """

    takes = "number"
    unseen_code = "odd number"
    fill: float
    mean: float
    scale: float | None
    indicator: bool
    form: NumberForm = PLAIN

    def __post_init__(self) -> None:
        check_scaling(self.fill, self.mean, self.scale)
        if not self.features:
            raise ValueError("a numeric column makes no feature (no scale and no indicator)")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        names = []
        if self.scale is not None:
            names.append(self.name)
        if self.indicator:
            names.append(missing_feature(self.name))
        return tuple(names)

    @property
    def read_as(self) -> str:
        """How cells must be written."""
        if self.form.plain:
            return "a number"
        return f"a number written as {self.form.example}"

    def shown(self, value: float) -> str:
        """A number of `raw` with the offset of the form."""
        return f"{value + self.form.offset:.5g}"

    def raw(self, table: Table) -> NDArray[np.float64]:
        """The numbers less the offset of the form, NaN where missing."""
        return read_numbers(table.cells(self.name), self.form).x

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features; cells that are neither numbers nor missing are reported, and count as missing."""
        cells = table.cells(self.name)
        x, odd = read_numbers(cells, self.form)
        n_missing = int(np.count_nonzero(np.isnan(x)))

        def block(rows: slice) -> NDArray[np.float64]:
            return self._features(x[rows])

        return Encoded(len(x), len(self.features), block, n_missing, x), odd_texts(cells, odd)

    def _features(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features (n, width) of some numbers."""
        features = []
        if self.scale is not None:
            features.append(filled_and_scaled(x, self.fill, self.mean, self.scale))
        if self.indicator:
            features.append(np.isnan(x).astype(np.float64))
        return np.column_stack(features)
