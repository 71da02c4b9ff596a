"""Check that the labels of a target are classes: not a single one, not too many, and not a numeric quantity."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import DOUBTFUL, to_number
from abnet.tables.table_errors import TableError, quoted
from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.wording import number_of

__all__ = ["MOST_CLASSES", "NoClassesError", "check_classes"]

MOST_CLASSES = 100
"""More different labels are a quantity or an identifier."""

_MOST_FRACTIONS = 10
"""More different numbers with decimals are a quantity."""

_MANY_NUMBERS = 20
"""More different whole numbers are a quantity if classes have few rows."""

_FEW_ROWS = 10
"""Average rows of a class below which many whole numbers are a quantity."""

_MOST_SINGLE_ROWS = 10
"""More classes need two rows each on average."""

_SHOWN = 5
"""Classes that a message names."""


class NoClassesError(NamesParameters, TableError):
    """The target column does not contain classes."""


def check_classes(column: str, classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    """Raise a NoClassesError unless there are 2 to 100 classes, which are no quantity, with two rows on average.

    Parameters
    ----------
    column : str
    classes : array (K,)
        The distinct labels, sorted.
    counts : array of int (K,)
        Rows of each class.
    """
    n_classes = len(classes)
    n_rows = int(counts.sum())
    if n_classes > 2 and _is_quantity(classes, n_rows):
        raise NoClassesError(
            "column {!r} looks like a regression target ({} distinct numbers); abnet classifies. Bin it with {} "
            "(quartiles), or choose another column.",
            column,
            n_classes,
            Parameter("bins", 4),
        )
    if n_classes < 2 or n_classes > MOST_CLASSES:
        raise NoClassesError("{}", _wrong_number(column, classes.tolist(), counts))
    if n_classes > _MOST_SINGLE_ROWS and n_rows < 2 * n_classes:
        raise NoClassesError(
            "column {!r} has {} classes in {}, such as {}: most classes have a single row, which is too little to "
            "learn them; choose another column, or merge classes.",
            column,
            n_classes,
            number_of(n_rows, "row"),
            _shown(classes.tolist()[0]),
        )


def _is_quantity(classes: NDArray[Any], n_rows: int) -> bool:
    """Whether labels are numbers that measure something: many, with few rows each, or with decimals.

    Examples
    --------
    >>> _is_quantity(np.arange(60), 200), _is_quantity(np.arange(26), 20_000), _is_quantity(np.array([0.5, 1.0]), 90)
    (True, False, False)
    """
    numbers = _as_numbers(classes)
    if numbers is None:
        return False
    n_numbers = len(numbers)
    if np.any(numbers != np.rint(numbers)):
        return n_numbers > _MOST_FRACTIONS
    if n_numbers > MOST_CLASSES:
        return True
    return n_numbers > _MANY_NUMBERS and n_rows < _FEW_ROWS * n_numbers


def _as_numbers(classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Labels as finite numbers; None if one of them is something else."""
    kind = classes.dtype.kind
    if kind in "iuf":
        return classes.astype(np.float64)
    if kind != "U":
        return None
    numbers = [to_number(label) for label in classes.tolist()]
    if any(number is None or not np.isfinite(number) for number in numbers):
        return None
    return np.array(numbers, np.float64)


def _wrong_number(column: str, classes: list[Any], counts: NDArray[np.intp]) -> str:
    """The message for one class or too many, with the most frequent classes."""
    n_classes = len(classes)
    found = f"{n_classes} classes"
    if n_classes == 1:
        found = "only one class"
    most_frequent = np.argsort(counts, kind="stable")[::-1][:_SHOWN]
    shown = ", ".join(f"{_shown(classes[i])} ({number_of(int(counts[i]), 'row')})" for i in most_frequent)
    if n_classes > _SHOWN:
        shown += f" and {n_classes - _SHOWN} more"
    hint = ""
    doubtful = [text for text in map(str, classes) if text.lower() in DOUBTFUL]
    if doubtful and n_classes > 2:
        hint = f"; if {doubtful[0]!r} stands for a missing label, remove these rows"
    return f"column {column!r} has {found}, but 2 to {MOST_CLASSES} are needed: {shown}{hint}."


def _shown(label: Any) -> str:
    if isinstance(label, str):
        return quoted(label)
    return repr(label)
