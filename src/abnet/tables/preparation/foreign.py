"""`Foreign`: a fitted transformer of another library as a preparation; it predicts, but cannot be stored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from abnet.tables.preparation.preparation import Preparation, Read
from abnet.utils.coded_rows import Inputs

if TYPE_CHECKING:
    from abnet.tables.columns.encoded import Encoded
    from abnet.tables.table import Table

__all__ = ["Foreign"]


class Foreign(Preparation, frozen=True, eq=False, tag="foreign"):
    """A fitted transformer of a type that this library does not know.

    Attributes
    ----------
    transformer : object with ``transform``
    n_features : int
        Number of features that it makes of a row.
    by_name : bool
        Whether it finds the columns of a table by their names.
    """

    transformer: Any
    n_features: int
    by_name: bool = False

    @property
    def n_features_in(self) -> int | None:
        """Number of columns taken; None if the transformer does not record it."""
        found: int | None = getattr(self.transformer, "n_features_in_", None)
        return found

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return self.n_features

    @property
    def owners(self) -> None:
        """Unknown: a feature may come from several columns."""

    def transform(self, X: Any) -> Any:
        """The transformed rows."""
        return self.transformer.transform(X)

    def observed(self, X: Any) -> "tuple[Inputs, tuple[Encoded, ...]]":
        """The features; the values of the columns are unknown."""
        return self.inputs(X), ()

    def read(self, table: "Table", names: Sequence[str] | None) -> Read:
        """The features of a table; values that did not occur in fitting are not reported."""
        if self.by_name:
            return Read(self.inputs(table), [])
        return super().read(table, names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features; empty if the transformer has none."""
        try:
            names = tuple(map(str, self.transformer.get_feature_names_out()))
        except (AttributeError, ValueError, TypeError):  # also a pipeline with a step without names
            return ()
        if len(names) != self.n_features:
            return ()
        return names

    @property
    def why_not_stored(self) -> str:
        """Only plain numbers and text go into a model file, never a pickle."""
        from abnet.tables.preparation.plain_values import SUPPORTED

        return (
            f"a preprocessor of type {type(self.transformer).__name__} cannot be stored in a model file; "
            f"supported are {', '.join(SUPPORTED)}."
        )
