"""`CodedMap`: prepared columns with thermometer codes.

Every feature with several values is followed by signs that say whether it is above each of its thresholds. Codes can be
added to any preparation that can be stored.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.preparation.preparation import Preparation, Read
from abnet.tables.preparation.thermometer_map import BLOCK, check_thresholds, thresholds_of
from abnet.utils.coded_rows import CodedRows, dense
from abnet.utils.threads import parallel_map, threads_for

if TYPE_CHECKING:
    from abnet.tables.columns.column import Column
    from abnet.tables.columns.encoded import Encoded
    from abnet.tables.notes import Note
    from abnet.tables.table import Table

    Base = Preparation
else:  # the reader of a file decides on the kind and converts it
    Base = Any

__all__ = ["CodedMap"]


class CodedMap(Preparation, frozen=True, tag="coded"):
    """The features of another map, rounded to float32, then the signs ``sgn(x_j - t)`` of their thresholds.

    Attributes
    ----------
    base : Preparation
        One that can be stored.
    thresholds : tuple of tuples of float
        For each feature of the base, increasing; often empty.

    Examples
    --------
    >>> from abnet.tables.preparation import StandardMap
    >>> CodedMap(StandardMap((1.0,), (2.0,)), ((-0.5, 0.5),)).transform([[3.0]])
    array([[1., 1., 1.]], dtype=float32)
    """

    base: Base
    thresholds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if isinstance(self.base, CodedMap):
            raise ValueError("codes of codes make no sense")
        if len(self.thresholds) != self.base.n_features_out:
            n_lists = len(self.thresholds)
            raise ValueError(f"{n_lists} lists of thresholds do not fit {self.base.n_features_out} features")
        check_thresholds(self.thresholds)

    @staticmethod
    def of(base: Any, X: NDArray[Any]) -> "CodedMap":
        """The map with thresholds that suit rows X prepared by the base."""
        return CodedMap(base, thresholds_of(np.asarray(X, np.float32)))

    @property
    def n_features_in(self) -> int | None:
        """Number of columns taken."""
        return self.base.n_features_in

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row, with codes."""
        return self.base.n_features_out + sum(map(len, self.thresholds))

    @property
    def codes(self) -> tuple[tuple[float, ...], ...]:
        """The thresholds."""
        return self.thresholds

    @property
    def owners(self) -> tuple[int, ...] | None:
        """The place of the column of each feature of the base."""
        return self.base.owners

    @property
    def columns(self) -> "tuple[Column, ...]":
        """Those of the base."""
        return self.base.columns

    @property
    def notes(self) -> "tuple[Note, ...]":
        """Those of the base."""
        return self.base.notes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of the base."""
        return self.base.feature_names

    def empty_columns(self, table: "Table", among: Sequence[str] | None = None) -> list[str]:
        """Those of the base."""
        return self.base.empty_columns(table, among)

    def column_words(self, names: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Those of the base."""
        return self.base.column_words(names)

    def remarks(self) -> list[str]:
        """Those of the base, and one about the codes."""
        codes = f"thermometer codes: {sum(map(len, self.thresholds))} thresholds on the features"
        return [*self.base.remarks(), codes]

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features and codes of every row."""
        return self.inputs(X).toarray()

    def inputs(self, X: Any) -> CodedRows:
        """`transform`, with codes that are not written out."""
        return self.with_codes(self.base.transform(X))

    def observed(self, X: Any) -> "tuple[CodedRows, tuple[Encoded, ...]]":
        """`inputs`, and the values of every column."""
        features, columns = self.base.observed(X)
        return self.with_codes(features), columns

    def read(self, table: "Table", names: Sequence[str] | None) -> Read:
        """The rows of a table as the base reads them, with codes."""
        read = self.base.read(table, names)
        return read._replace(inputs=self.with_codes(read.inputs))

    def with_codes(self, features: Any) -> CodedRows:
        """Features and codes of rows that the base has prepared; codes are not written out."""
        features = np.asarray(dense(features), np.float32)
        counts = tuple(map(len, self.thresholds))
        coded = [place for place, n_thresholds in enumerate(counts) if n_thresholds]
        thresholds = [_smallest_reaching(self.thresholds[place])[:, None] for place in coded]
        dtype: type[np.unsignedinteger[Any]] = np.uint8
        if max(counts, default=0) > np.iinfo(np.uint8).max:
            dtype = np.uint16
        reached = np.empty((len(coded), len(features)), dtype)

        def count_block(start: int) -> None:
            # The number of thresholds that a value reaches determines all its signs. Comparing with every threshold is
            # faster than a binary search. A missing number reaches all thresholds, because it is below none.
            block = np.ascontiguousarray(features[start : start + BLOCK].T)
            for out, place, values in zip(reached, coded, thresholds, strict=True):
                n_below = (block[place] < values).sum(axis=0, dtype=dtype)
                np.subtract(len(values), n_below, out=out[start : start + BLOCK], dtype=dtype)

        parallel_map(count_block, range(0, len(features), BLOCK), threads_for(len(features)))
        return CodedRows(features, reached, counts)


@lru_cache(maxsize=1024)
def _smallest_reaching(thresholds: tuple[float, ...]) -> NDArray[np.float32]:
    """The smallest float32 at or above each threshold, which separates numbers in float32 as the threshold does."""
    exact = np.array(thresholds, np.float64)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
        return np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)
