"""`Tolerance`: how far the cells of a table may be off, column by column."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from abnet.utils.errors import Parameter, ParameterError

__all__ = ["ALL", "Size", "Tolerance"]

ALL = "*"
"""Stands for all columns of numbers that are not named."""
_SIZE = re.compile(r"(?P<number>\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+)\s*(?P<unit>%sd|% sd|sd|%)?")

_COLUMN = re.compile(rf"(?P<name>.+?)=(?P<size>\s*{_SIZE.pattern}\s*)(,|$)")


@dataclass(frozen=True)
class Size:
    """A tolerance of one column.

    Attributes
    ----------
    number : float
    of : {"units", "value", "sd"}
        What the number is a multiple of: the column's own unit, the value in the cell, or the standard deviation of the
        column in the training rows.
    """

    number: float
    of: Literal["units", "value", "sd"]

    @staticmethod
    def parse(text: str | float) -> "Size":
        """A size such as ``5``, ``"10%"`` (of the value), ``"1%sd"`` or ``"0.5sd"``.

        Examples
        --------
        >>> Size.parse("1%sd"), Size.parse(5)
        (Size(number=0.01, of='sd'), Size(number=5.0, of='units'))
        """
        found = _SIZE.fullmatch(str(text).strip())
        if found is None:
            raise ParameterError(
                "{}: {!r} is no size; write 5, 10% (of the value) or 1%sd (of the standard deviation).",
                Parameter("tolerance"), str(text),
            )  # fmt: skip
        number = float(found["number"])
        unit = (found["unit"] or "").replace(" ", "")
        if unit == "%sd":
            return Size(number / 100.0, "sd")
        if unit == "sd":
            return Size(number, "sd")
        if unit == "%":
            return Size(number / 100.0, "value")
        return Size(number, "units")

    def __str__(self) -> str:
        if self.of == "units":
            return f"{self.number:g}"
        if self.of == "value":
            return f"{100 * self.number:g}%"
        return f"{100 * self.number:g}%sd"


@dataclass(frozen=True)
class Tolerance:
    """Sizes by column, and the columns whose value may be any of their categories.

    Attributes
    ----------
    sizes : dict
        By name of the column; "*" stands for all other columns of numbers.
    free : tuple of str
    """

    sizes: Mapping[str, Size]
    free: tuple[str, ...] = ()

    @staticmethod
    def parse(tolerance: str | float | Mapping[str, str | float], free: tuple[str, ...] = ()) -> "Tolerance":
        """A tolerance as users write it.

        Parameters
        ----------
        tolerance : str, float or mapping
            ``"glucose=5,*=1%sd"``, one size for all columns of numbers, or sizes by column.
        free : tuple of str

        Examples
        --------
        >>> str(Tolerance.parse("glucose=5, *=1%sd", free=("sex",)))
        'glucose by 5, every other number by 1% of its standard deviation, sex freely'
        """
        if isinstance(tolerance, Mapping):
            sizes = {str(name): Size.parse(size) for name, size in tolerance.items()}
        elif isinstance(tolerance, str) and "=" in tolerance:
            sizes = _by_column(tolerance)
        elif tolerance == "":
            sizes = {}
        else:
            sizes = {ALL: Size.parse(tolerance)}
        for name in free:
            if name in sizes:
                raise ParameterError("column {!r} has a size and is free: choose one.", name)
        return Tolerance(sizes, tuple(free))

    def of(self, column: str) -> Size | None:
        """The size of a column of numbers; None if it does not move."""
        return self.sizes.get(column, self.sizes.get(ALL))

    def __str__(self) -> str:
        parts = [f"{name} by {_words(size)}" for name, size in self.sizes.items() if name != ALL]
        if ALL in self.sizes:
            every = "every number"
            if parts:
                every = "every other number"
            parts.append(f"{every} by {_words(self.sizes[ALL])}")
        parts += [f"{name} freely" for name in self.free]
        return ", ".join(parts)


def _by_column(text: str) -> dict[str, Size]:
    """Sizes by column from one text; names of columns may hold commas.

    Examples
    --------
    >>> list(_by_column("size, cm=5,*=1%sd"))
    ['size, cm', '*']
    """
    sizes = {}
    rest = text
    while rest:
        found = _COLUMN.match(rest)
        if found is None:
            raise ParameterError(
                "{}: cannot read {!r}; write COLUMN=SIZE,… with sizes such as 5, 10% or 1%sd.",
                Parameter("tolerance"), rest.strip(),
            )  # fmt: skip
        sizes[found["name"].strip()] = Size.parse(found["size"])
        rest = rest[found.end() :]
    return sizes


def _words(size: Size) -> str:
    if size.of == "units":
        return f"{size.number:g}"
    if size.of == "value":
        return f"{100 * size.number:g}% of its value"
    return f"{100 * size.number:g}% of its standard deviation"
