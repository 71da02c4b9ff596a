"""`Labels`: the class labels, their codes 0 … K-1, and functions from scores to labels and losses."""

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.utils.class_scores import winners

__all__ = ["Labels", "check_labelled", "signs_of", "with_unknown"]

_TYPES = {"b": (bool,), "i": (int,), "u": (int,), "f": (float,), "U": (str,), "O": (bool, int, float, str)}

_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9][0-9]{0,4}|\|O")

MOST_BYTES = 2**24
"""Maximum memory of stored labels: reading a small file should not allocate much more memory than its size."""


def signs_of(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """-1 and +1 for the classes 0 and 1, and +3 for a label that is neither.

    Examples
    --------
    >>> signs_of(np.array([0, 1, 2]))
    array([-1.,  1.,  3.])
    """
    return np.asarray(2.0 * codes - 1)


def with_unknown(codes: NDArray[np.intp], n_classes: int) -> tuple[NDArray[np.intp], int]:
    """Codes with K in the place of -1, for labels that are not known, and the number of codes.

    Examples
    --------
    >>> with_unknown(np.array([0, -1, 1]), 2)
    (array([0, 2, 1]), 3)
    """
    unknown = codes < 0
    return np.where(unknown, n_classes, codes), n_classes + int(unknown.any())


_FIRST_LABELS = 1000
"""Labels that are looked at first."""
_FEW = 8
"""Different labels that the others are compared with, one by one."""


def count_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels of y, sorted, and how often each occurs, as in `np.unique`.

    Sorting text is slow, so labels are first compared with the few that occur in the first rows; only others are
    sorted.

    Examples
    --------
    >>> count_labels(np.array(["yes", "no", "yes"]))
    (array(['no', 'yes'], dtype='<U3'), array([1, 2]))
    """
    if y.ndim != 1 or y.dtype.kind != "U" or not len(y):
        return np.unique(y, return_counts=True)
    known = np.unique(y[:_FIRST_LABELS])
    if len(known) > _FEW:
        return np.unique(y, return_counts=True)
    matches = [y == label for label in known]
    known_counts = [np.count_nonzero(match) for match in matches]
    others, other_counts = np.unique(y[~np.logical_or.reduce(matches)], return_counts=True)
    values = np.append(known, others)
    counts = np.append(known_counts, other_counts)
    order = np.argsort(values)
    return values[order], counts[order]


@dataclass(frozen=True, eq=False)
class Labels:
    """The class labels of a problem, two or more, all different.

    Parameters
    ----------
    classes : array (K,)
        In the order of their codes: of two labels the first stands for -1, the second for +1.

    Examples
    --------
    >>> labels = Labels.of(["yes", "no", "no"])
    >>> labels.classes
    array(['no', 'yes'], dtype='<U3')
    >>> labels.encode(["no", "yes", "perhaps"])
    array([ 0,  1, -1])
    >>> labels.signs(["no", "yes"])
    array([-1.,  1.])
    >>> labels.from_scores([-0.3, 0.0])
    array(['no', 'yes'], dtype='<U3')
    """

    classes: NDArray[Any]

    def __post_init__(self) -> None:
        classes = np.array(self.classes)
        if classes.ndim != 1 or len(classes) < 2:
            raise ValueError(f"class labels must be a list of at least two, but are {str(classes.tolist())[:60]}.")
        _check_different(classes.tolist())
        classes.flags.writeable = False
        object.__setattr__(self, "classes", classes)

    @staticmethod
    def of(y: ArrayLike) -> "Labels":
        """The labels that occur in y, sorted; raises a ValueError for fewer than two, or for types that do not sort."""
        labels = np.asarray(y)
        try:
            classes = count_labels(labels)[0]
        except TypeError as error:
            raise ValueError("y mixes labels that cannot be sorted, such as numbers and text: use one type.") from error
        if classes.dtype.kind == "f" and not np.isfinite(classes).all():
            raise ValueError("y has NaN or infinity, which are not labels: remove those rows, or give them a label.")
        if len(classes) < 2:
            held = "no label"
            if len(classes):
                held = f"one class ({classes[0]})"
            raise ValueError(f"y has {held}: at least two classes are needed.")
        return Labels(classes)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels as text, in the order of their codes."""
        return tuple(map(str, self.classes.tolist()))

    def encode(self, y: ArrayLike) -> NDArray[np.intp]:
        """The code of each label; -1 for any other label."""
        given = np.asarray(y)
        codes = np.full(given.shape, -1, np.intp)
        for code, label in enumerate(self.classes):
            codes[given == label] = code
        return codes

    def signs(self, y: ArrayLike) -> NDArray[np.float64]:
        """-1 for the first of two labels, +1 for the second; raises a ValueError for others, or for more classes."""
        self.check_two()
        codes = self.encode(y)
        if (codes < 0).any():
            unknown = np.asarray(y)[codes < 0][0]
            raise ValueError(f"y has the label {unknown!r}, which the model does not know; it knows {self.classes}.")
        return np.where(codes == 1, 1.0, -1.0)

    def check_two(self) -> None:
        """Raise a ValueError for more than two classes."""
        if self.n_classes > 2:
            named = ", ".join(self.names[:5])
            if self.n_classes > 5:
                named += ", …"
            raise ValueError(
                f"Only binary classification is supported: y holds {self.n_classes} classes ({named}), "
                "exactly two are needed."
            )

    def decode(self, codes: ArrayLike) -> NDArray[Any]:
        """The label of each code."""
        positions = np.asarray(codes, np.intp)
        if positions.size and not 0 <= positions.min() <= positions.max() < self.n_classes:
            raise ValueError(f"codes must lie between 0 and {self.n_classes - 1}.")
        return self.classes[positions]

    def from_scores(self, scores: ArrayLike) -> NDArray[Any]:
        """The predicted label of each row, from its scores (`winners`); only this function maps scores to labels."""
        array = np.asarray(scores)
        n_classes = 2
        if array.ndim > 1:
            n_classes = array.shape[-1]
        if n_classes != self.n_classes:
            raise ValueError(f"scores of shape {array.shape} do not fit {self.n_classes} classes.")
        return self.decode(winners(array))

    def to_dict(self) -> dict[str, Any]:
        """Type and values for JSON; raises a ValueError for labels that are not numbers, booleans or text.

        Examples
        --------
        >>> Labels(np.array(["no", "yes"])).to_dict()
        {'dtype': '<U3', 'values': ['no', 'yes']}
        """
        values = [_plain(value) for value in self.classes.tolist()]
        record = {"dtype": self.classes.dtype.str, "values": values}
        Labels.from_dict(record)  # what could not be read back is not written
        return record

    @staticmethod
    def from_dict(record: Any) -> "Labels":
        """Read the result of `to_dict`; raises a ValueError for anything else.

        Examples
        --------
        >>> Labels.from_dict({"dtype": "|i1", "values": [0, 1]}).classes
        array([0, 1], dtype=int8)
        """
        if not isinstance(record, dict) or set(record) != {"dtype", "values"}:
            raise ValueError("class labels must have the keys 'dtype' and 'values'.")
        name = record["dtype"]
        values = record["values"]
        if not isinstance(name, str) or not _DTYPE.fullmatch(name):
            raise ValueError(
                f"class labels of type {str(name)[:40]!r} cannot be stored; use numbers, booleans or text."
            )
        dtype = np.dtype(name)
        if not isinstance(values, list) or len(values) < 2:
            raise ValueError("class labels must be a list of at least two.")
        if not all(type(value) in _TYPES[dtype.kind] and _finite(value) for value in values):
            raise ValueError(f"class labels {str(values)[:60]} are not of the type {name}.")
        _check_different(values)
        return Labels(_exactly(values, dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        values = self.classes.tolist()
        return (self.classes.dtype.str, tuple(map(type, values)), tuple(values))


def _plain(value: Any) -> Any:
    """A scalar of NumPy, as an array of objects may hold, as a value of Python."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _check_different(values: list[Any]) -> None:
    seen: set[Any] = set()
    for value in values:
        if not isinstance(value, Hashable):
            raise ValueError(f"class labels must be single numbers, booleans or texts, not {str(value)[:60]}.")
        if value in seen:
            raise ValueError(f"class labels must differ, but {str(value)[:60]!r} occurs twice.")
        seen.add(value)


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _exactly(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values converted to the type; raises a ValueError if the conversion changes a value."""
    if len(values) * dtype.itemsize > MOST_BYTES:
        raise ValueError(f"{len(values)} class labels of type {dtype.str} take more memory than is given to labels.")
    try:
        with np.errstate(over="ignore"):  # too large values become infinite, and differ from the given ones below
            classes = np.array(values, dtype)
    except OverflowError:
        classes = None
    if classes is None or classes.tolist() != values:
        raise ValueError(f"class labels {str(values)[:60]} do not fit the type {dtype.str}.")
    return classes


def check_labelled(y: Any) -> None:
    """Raise a ValueError for missing labels.

    Examples
    --------
    >>> check_labelled(["yes", "no"])
    >>> check_labelled(["yes", None])
    Traceback (most recent call last):
    ValueError: y holds missing labels (None or NaN): remove those rows, or give them a label.
    """
    labels = np.asarray(y)
    missing = False
    if labels.dtype.kind == "f":
        missing = bool(np.isnan(labels).any())
    elif labels.ndim and labels.dtype.kind == "O":
        missing = any(map(_is_missing, labels.flat))
    if missing:
        raise ValueError("y holds missing labels (None or NaN): remove those rows, or give them a label.")


def _is_missing(label: Any) -> bool:
    if isinstance(label, float):
        return label != label
    return label is None or type(label).__name__ == "NAType"
