"""Cut a numeric target into classes, at given points or at quantiles."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.tables.notes import Note
from abnet.tables.number_forms import PLAIN
from abnet.tables.table import Table, as_table
from abnet.tables.table_errors import TableError, quoted
from abnet.tables.target import check_target
from abnet.tables.target_classes import NoClassesError
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    import polars

__all__ = ["Binning", "bin_codes", "bin_names"]

_MOST_BINS = 10

_ASIDE = 0.2
"""Fraction of the rows that are set aside for quantiles."""
_MOST_ASIDE = 1000
"""Rows that are enough for quantiles."""


@dataclass(frozen=True)
class Binning:
    """Classes of a numeric target: below the first cut point, between two, and from the last one on.

    Given cut points define the classes before any row is seen. Quantiles depend on labels, so they are computed from
    rows that are set aside (a fifth, at most a thousand) and used neither for training nor for the certificate: the
    bound rows of a certificate must not influence its classes.

    Attributes
    ----------
    column : str
    cuts : tuple of float
        Increasing.
    aside : array of bool (n,) or None
        Which rows of the table are set aside; None for given cut points.

    Examples
    --------
    >>> Binning("y", (10.0, 20.0)).names
    ('below 10', '10 to 20', '20 or above')
    """

    column: str
    cuts: tuple[float, ...]
    aside: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls, read: "Callable[[], Iterable[polars.DataFrame]]", column: str, bins: int | Sequence[float], seed: int
    ) -> "Binning":
        """The binning of a table by a number of quantiles, or by cut points.

        Parameters
        ----------
        read : callable
            Returns the frames of the table, from the first on, at every call.
        column : str
        bins : int or sequence of float
        seed : int
            Chooses the rows that are set aside.
        """
        if not isinstance(bins, int):
            return cls(column, _checked_cuts(bins))
        if isinstance(bins, bool) or not 2 <= bins <= _MOST_BINS:
            raise ParameterError("{} must be from 2 to {}; got {!r}.", Parameter("bins"), _MOST_BINS, bins)
        parts = []
        hashes = []
        for frame in read():
            parts.append(_quantities(as_table(frame), column))
            hashes.append(row_hashes(frame))
        y = np.concatenate(parts)
        share = min(_ASIDE, _MOST_ASIDE / max(len(y), 1))
        aside = np.zeros(len(y), bool)
        aside[Split.of(np.concatenate(hashes), share, seed).first] = True
        cuts = _quantiles(y[aside & ~np.isnan(y)], bins)
        if not cuts:
            raise TableError(f"column {column!r} has too few different numbers to be cut into {bins} classes.")
        return cls(column, cuts, aside)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the classes, in their order."""
        return bin_names(self.cuts)

    @property
    def note(self) -> Note:
        """The note on the cut points, and on the rows that were set aside for them."""
        facts: dict[str, str | int | float] = {
            "bins": len(self.names),
            "cuts": ", ".join(map(_cut_text, self.cuts)),
        }
        if self.aside is None:
            return Note("cut", (self.column,), facts=facts)
        return Note("binned", (self.column,), int(self.aside.sum()), facts=facts)

    def frames(self, frames: "Iterable[polars.DataFrame]") -> "Iterator[polars.DataFrame]":
        """Frames with classes in place of numbers, without the rows that were set aside; a number may be missing."""
        import polars as pl

        names = np.array([*self.names, ""], object)
        start = 0
        for frame in frames:
            codes = bin_codes(_quantities(as_table(frame, before=start), self.column), self.cuts)
            binned = frame.with_columns(pl.Series(self.column, names[codes].tolist(), pl.String))
            if self.aside is not None:
                binned = binned.filter(~self.aside[start : start + frame.height])
            start += frame.height
            yield binned


def bin_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """The labels of the classes between cut points, in their order; a cut point belongs to the class above it.

    Examples
    --------
    >>> bin_names([10.0]), bin_names([0.5, 1234567.25])
    (('below 10', '10 or above'), ('below 0.5', '0.5 to 1234567.25', '1234567.25 or above'))
    """
    texts = [_cut_text(cut) for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return (f"below {texts[0]}", *between, f"{texts[-1]} or above")


def bin_codes(x: NDArray[np.float64], cuts: Sequence[float]) -> NDArray[np.intp]:
    """The place of each number's class; the number of classes for NaN.

    Examples
    --------
    >>> bin_codes(np.array([9.0, 10.0, np.nan]), [10.0])
    array([0, 1, 2])
    """
    n_classes = len(cuts) + 1
    return np.where(np.isnan(x), n_classes, np.searchsorted(cuts, x, side="right"))


def _checked_cuts(bins: Sequence[float]) -> tuple[float, ...]:
    cuts = tuple(float(cut) for cut in bins)
    if not cuts or not np.isfinite(cuts).all() or any(low >= high for low, high in pairwise(cuts)):
        raise ParameterError("{} must be a number of classes or increasing cut points.", Parameter("bins"))
    return cuts


def _quantiles(y: NDArray[np.float64], bins: int) -> tuple[float, ...]:
    """Different cut points above the smallest number, with six digits; none if there are too few numbers."""
    if not len(y):
        return ()
    cuts = np.unique(np.quantile(y, np.arange(1, bins) / bins))
    return tuple(float(f"{cut:.6g}") for cut in cuts if cut > y.min())


def _cut_text(cut: float) -> str:
    short = f"{cut:g}"
    if float(short) == cut:
        return short
    return repr(cut)


def _quantities(table: Table, column: str) -> NDArray[np.float64]:
    """The numbers of a target, NaN for other cells; raises a NoClassesError if most cells are text."""
    check_target(table, column)
    cells = table.cells(column)
    x, is_text = cells.numbers(PLAIN)
    x = np.where(np.isfinite(x), x, np.nan)
    n_text = np.count_nonzero(is_text)
    n_cells = np.count_nonzero(is_text | ~np.isnan(x))
    if 2 * n_text > n_cells:
        example = quoted(cells.cell(int(is_text.argmax())))
        raise NoClassesError(
            "column {!r} holds text such as {}, which {} cannot cut into classes.", column, example, Parameter("bins")
        )
    return x
