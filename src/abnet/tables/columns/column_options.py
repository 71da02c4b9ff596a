"""What the user has decided about the columns of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from abnet.tables.named_columns import check_named
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["COLUMN_PARAMETERS", "ColumnOptions"]

KIND_PARAMETERS = ("numeric", "categorical", "dates")
"""Parameters that name the columns of a kind."""

COLUMN_PARAMETERS = ("use", *KIND_PARAMETERS)
"""Parameters that name columns."""


@dataclass(frozen=True)
class ColumnOptions:
    """What the user has decided about the columns of a table.

    Attributes
    ----------
    max_categories : int
    decimal : {"", ".", ","}
        The decimal mark of numbers; empty if it is to be inferred.
    use : frozenset of str
        Columns that are never left out, unless they are constant or empty.
    numeric, categorical, dates : frozenset of str
        Columns that are read as this kind, whatever they look like.
    """

    max_categories: int = 200
    decimal: str = ""
    use: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    categorical: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for first, second in combinations(KIND_PARAMETERS, 2):
            in_both = self.named_by(first) & self.named_by(second)
            if in_both:
                name = min(in_both)
                raise ParameterError("column {!r} cannot be both {} and {}.", name, Parameter(first), Parameter(second))

    def named_by(self, parameter: str) -> frozenset[str]:
        """The columns that a parameter names."""
        columns: frozenset[str] = getattr(self, parameter)
        return columns

    def requested_kind(self, name: str) -> str:
        """The parameter that sets the kind of a column; empty if none does."""
        for parameter in KIND_PARAMETERS:
            if name in self.named_by(parameter):
                return parameter
        return ""

    def is_named(self, name: str) -> bool:
        """Whether a parameter names the column, so that it is not left out."""
        return any(name in self.named_by(parameter) for parameter in COLUMN_PARAMETERS)

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise an error if a parameter names a column that the table does not have."""
        for parameter in COLUMN_PARAMETERS:
            check_named(parameter, sorted(self.named_by(parameter)), names)
