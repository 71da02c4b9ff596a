"""From cells and a tolerance to boxes of features: every row's own features, and where they may move.

Every preparation that is supported maps a column of numbers by a nondecreasing function, so an interval of cells
becomes the interval between the features of its two ends. The ends are rounded outward and prepared in float64, as
every row is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.robustness.box import Boxes
from abnet.robustness.tolerance import ALL, Size, Tolerance
from abnet.robustness.unsupported import unsupported
from abnet.tables.columns import BooleanColumn, Column, NumericColumn, TextColumn
from abnet.tables.columns.scaling import filled_and_scaled
from abnet.tables.preparation.preparation import Unprepared
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.table import as_table
from abnet.tables.table_errors import listed
from abnet.utils.coded_rows import dense
from abnet.utils.errors import ParameterError

__all__ = ["FeatureBoxes", "feature_boxes"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

MOST_COMBINATIONS = 256
"""Maximum number of combinations of the values of free columns."""


@dataclass(frozen=True, eq=False)
class _Moving:
    """A column of numbers with a tolerance: its feature, and the interval of every row in the column's own units."""

    name: str
    feature: int
    low: Floats
    high: Floats
    mean: float
    scale: float

    def cell(self, row: int, feature: float) -> float:
        """The number with the fewest digits in the interval of a row that has this feature, or the nearest one.

        Between neighbouring numbers of a column with a large mean and a small deviation there are several features.
        """
        number = float(np.clip(feature * self.scale + self.mean, self.low[row], self.high[row]))
        for digits in range(1, 17):
            shorter = float(f"{number:.{digits}g}")
            is_inside = self.low[row] <= shorter <= self.high[row]
            if is_inside and np.float32((shorter - self.mean) / self.scale) == np.float32(feature):
                return shorter
        return number


@dataclass(frozen=True, eq=False)
class _Free:
    """A column that may take any of its values: where its features are, and the features and name of each value."""

    name: str
    features: slice
    values: Singles
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FeatureBoxes:
    """Rows as features, and the boxes in which they may move.

    Attributes
    ----------
    features : float32 array (n, features)
        Without codes.
    low, high : float32 arrays (n, features)
        Where columns of numbers may move.
    """

    features: Singles
    low: Singles
    high: Singles
    _moving: list[_Moving] = field(default_factory=list, repr=False)
    _free: list[_Free] = field(default_factory=list, repr=False)

    @property
    def combinations(self) -> list[tuple[int, ...]]:
        """Values of the free columns, as places in their lists; -1 stands for the row's own value."""
        return list(product(*([-1, *range(len(free.values))] for free in self._free)))

    def boxes(self, combination: Sequence[int]) -> Boxes:
        """The box of every row, with these values in the free columns."""
        low = self.low.copy()
        high = self.high.copy()
        for free, place in zip(self._free, combination, strict=True):
            if place >= 0:
                low[:, free.features] = free.values[place]
                high[:, free.features] = free.values[place]
        return Boxes(low, high)

    def changed(self, row: int, point: Singles, combination: Sequence[int]) -> dict[str, float | str]:
        """The cells of a point that differ from a row's, by column."""
        cells: dict[str, float | str] = {}
        for column in self._moving:
            if point[column.feature] != self.features[row, column.feature]:
                cells[column.name] = column.cell(row, float(point[column.feature]))
        for free, place in zip(self._free, combination, strict=True):
            if place >= 0 and (free.values[place] != self.features[row, free.features]).any():
                cells[free.name] = free.names[place]
        return cells


def feature_boxes(model: Model, X: Any, tolerance: Tolerance) -> FeatureBoxes:
    """The boxes of rows under a tolerance; a ValueError names a column that is not supported.

    Parameters
    ----------
    model : Model
    X : table or array (n rows)
    tolerance : Tolerance

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> one = Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> scaler = StandardMap((40.0, 0.0), (10.0, 1.0))
    >>> model = Model(one, preparation=scaler, feature_names=("age", "size"))
    >>> found = feature_boxes(model, np.array([[50.0, 1.0]]), Tolerance.parse("age=5"))
    >>> found.low.tolist(), found.high.tolist()
    ([[0.5, 1.0]], [[1.5, 1.0]])
    """
    base = model.preparation.base
    if isinstance(base, TableMap):
        return _of_table(model, X, base, tolerance)
    if isinstance(base, StandardMap | MinMaxMap | Unprepared):
        return _of_numbers(model, X, tolerance)
    raise unsupported(
        f"a tolerance is for columns that abnet prepares itself, not for {type(base).__name__}",
        "fit with preprocessor='auto', 'table' or 'standardise'",
    )


def _check_names(tolerance: Tolerance, names: Sequence[str]) -> None:
    for name in [*tolerance.sizes, *tolerance.free]:
        if name != ALL and name not in names:
            raise ParameterError("the model uses no column {!r}; its columns are {}.", name, listed(list(names)))


def _interval(numbers: Floats, size: Size, sd: float) -> tuple[Floats, Floats]:
    """Where cells may lie, rounded outward; NaN where they are missing."""
    amount: Any = size.number
    if size.of == "value":
        amount = size.number * np.abs(numbers)
    elif size.of == "sd":
        amount = size.number * sd
    low = np.nextafter(numbers - amount, -np.inf)
    high = np.nextafter(numbers + amount, np.inf)
    return low, high


def _of_numbers(model: Model, X: Any, tolerance: Tolerance) -> FeatureBoxes:
    """Rows of an array, or of a frame that is read as one."""
    base: Any = model.preparation.base
    rows = np.asarray(model.in_order(model.from_dicts(X)), np.float64)
    names = model.feature_names or tuple(f"x{j}" for j in range(rows.shape[1]))
    _check_names(tolerance, names)
    if tolerance.free:
        raise unsupported(f"column {tolerance.free[0]!r} has no list of values to choose from", "give it a tolerance")
    low = rows.copy()
    high = rows.copy()
    moving = []
    for j, name in enumerate(names):
        size = tolerance.of(name)
        if size is None:
            continue
        sd = _deviation(base, j)
        if size.of == "sd" and sd is None:
            raise unsupported(
                f"the model stores no standard deviation of column {name!r}", "give its tolerance as a number"
            )
        low[:, j], high[:, j] = _interval(rows[:, j], size, sd or 0.0)
        mean, scale = _inverse(base, j)
        moving.append(_Moving(name, j, low[:, j], high[:, j], mean, scale))
    return FeatureBoxes(
        features=_single(base.transform(rows)),
        low=_single(base.transform(low)),
        high=_single(base.transform(high)),
        _moving=moving,
    )


def _deviation(base: Any, j: int) -> float | None:
    if isinstance(base, StandardMap):
        return base.scale[j]
    return None


def _inverse(base: Any, j: int) -> tuple[float, float]:
    """The mean and scale with which feature j becomes a cell again."""
    if isinstance(base, StandardMap):
        return base.mean[j], base.scale[j]
    if isinstance(base, MinMaxMap):
        return -base.shift[j] / base.scale[j], 1.0 / base.scale[j]
    return 0.0, 1.0


def _single(features: Any) -> Singles:
    with np.errstate(over="ignore"):  # an infinite end of a box leaves it open
        return np.asarray(dense(features), np.float32)


def _of_table(model: Model, X: Any, base: TableMap, tolerance: Tolerance) -> FeatureBoxes:
    """Rows of a table with columns of several kinds."""
    table = as_table(model.from_dicts(X))
    features = _single(base.read(table).inputs)
    names = [column.name for column in base.columns]
    _check_names(tolerance, names)
    low = features.copy()
    high = features.copy()
    moving: list[_Moving] = []
    free: list[_Free] = []
    first = 0
    for column in base.columns:
        width = len(column.features)
        if column.name in tolerance.free:
            free.append(_any_value(column, slice(first, first + width)))
        elif isinstance(column, NumericColumn):
            size = tolerance.of(column.name)
            if size is not None and column.scale is not None:
                numbers = column.raw(table)
                lowest, highest = _table_interval(column, numbers, size)
                present = ~np.isnan(numbers)
                low[present, first] = _scaled(column, lowest[present])
                high[present, first] = _scaled(column, highest[present])
                offset = column.form.offset
                moving.append(
                    _Moving(
                        name=column.name,
                        feature=first,
                        low=lowest + offset,
                        high=highest + offset,
                        mean=column.mean + offset,
                        scale=column.scale,
                    )
                )
        elif column.name in tolerance.sizes:
            raise unsupported(
                f"column {column.name!r} is read as {column.kind}, and a tolerance is for numbers",
                "leave it out, or let a column of categories vary freely",
            )
        first += width
    if prod(len(column.values) + 1 for column in free) > MOST_COMBINATIONS:
        raise unsupported(f"the free columns have more than {MOST_COMBINATIONS} combinations", "name fewer of them")
    return FeatureBoxes(features, low, high, moving, free)


def _scaled(column: NumericColumn, numbers: Floats) -> Singles:
    """The feature of each number, as the preparation of the table computes it."""
    assert column.scale is not None
    return filled_and_scaled(numbers, column.fill, column.mean, column.scale).astype(np.float32)


def _table_interval(column: NumericColumn, numbers: Floats, size: Size) -> tuple[Floats, Floats]:
    """Where the numbers of a column, less the offset of its form, may lie."""
    if size.of == "value":
        offset = column.form.offset
        low, high = _interval(numbers + offset, size, 0.0)
        return np.nextafter(low - offset, -np.inf), np.nextafter(high - offset, np.inf)
    return _interval(numbers, size, column.scale or 0.0)


def _any_value(column: Column, features: slice) -> _Free:
    """Every value of a column of categories or of booleans."""
    width = features.stop - features.start
    if isinstance(column, BooleanColumn):
        values = np.zeros((2, width), np.float32)
        values[:, 0] = (-1.0, 1.0)
        return _Free(column.name, features, values, ("no", "yes"))
    if isinstance(column, TextColumn):
        others = width - int(column.missing) - len(column.categories)
        values = np.zeros((len(column.categories) + 1, width), np.float32)
        for place in range(len(column.categories) + min(others, 1)):
            values[place, place] = 1.0
        return _Free(column.name, features, values, (*column.categories, "(other)"))
    raise unsupported(
        f"column {column.name!r} is read as {column.kind}, and only categories and yes or no can vary freely",
        "give a column of numbers a tolerance",
    )
