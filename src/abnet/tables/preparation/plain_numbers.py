"""`PlainNumbers`: the numeric columns of a frame as features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns import NumericColumn, far_cells, far_notes, read_numbers
from abnet.tables.leaking_columns import leaking_columns
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.tables.shared_identifiers import shared_identifier
from abnet.tables.table import as_table
from abnet.tables.table_errors import TableError

__all__ = ["PlainNumbers"]


class PlainNumbers(TablePreparation):
    """Numeric columns of a frame, unscaled; missing values are replaced by the median of the fit.

    Missing values, in fitting or later, do not change the features of other rows. Like all features of tables, numbers
    are clipped to ±1,000,000.

    Examples
    --------
    >>> PlainNumbers().fit({"a": [1.0, 3.0, 8.0]}).transform({"a": [2.0, float("nan")]}).tolist()
    [[2.0], [3.0]]

    Parameters
    ----------
    scaled : bool
        Whether columns are scaled as by scikit-learn's StandardScaler, by cells that are not far from all others.
    """

    def __init__(self, *, scaled: bool = False) -> None:
        super().__init__()
        self.scaled = scaled

    def fit(self, X: Any, y: Any = None) -> "PlainNumbers":
        """Learn the medians, and the scales if columns are scaled."""
        table = as_table(X)
        notes = []
        kept = []
        for name in table.columns:
            note = shared_identifier(name, table.cells(name))
            if note is None:
                kept.append(name)
            else:
                notes.append(note)
        if not kept:
            raise TableError(f"no column can be used ({notes[0]}); add columns that vary.")
        numbers = {name: read_numbers(table.cells(name)).x for name in kept}
        scales = dict.fromkeys(kept, (0.0, 1.0))
        if self.scaled:
            far = {name: far_cells(x) for name, x in numbers.items()}
            for name, rows in far.items():
                notes += far_notes(name, table.cells(name), rows)
            scales = _standard_scales({name: np.where(far[name], np.nan, x) for name, x in numbers.items()})
        columns = tuple(NumericColumn(name, _median(x), *scales[name], False) for name, x in numbers.items())
        self.map_ = TableMap(columns, (*notes, *leaking_columns(table, columns, y)))
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(list(table.columns), object)
        return self


def _median(x: NDArray[np.float64]) -> float:
    """The median of the numbers that are not missing; 0 if there are none."""
    known = x[~np.isnan(x)]
    if not len(known):
        return 0.0
    return float(np.median(known))


def _standard_scales(numbers: dict[str, NDArray[np.float64]]) -> dict[str, tuple[float, float]]:
    """Means and standard deviations, as by scikit-learn's StandardScaler; 0 and 1 for a column without numbers."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(np.column_stack(list(numbers.values())))
    means = np.nan_to_num(scaler.mean_).tolist()
    scales = np.nan_to_num(scaler.scale_, nan=1.0).tolist()
    return dict(zip(numbers, zip(means, scales, strict=True), strict=True))
