"""The three sources behind the paper's six data sets: files, parsers, and what their content must look like."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from abnet.data import ads, adult, mnist
from abnet.data.parsed import Parsed

__all__ = ["SOURCES", "Source"]


class Source(NamedTuple):
    """Original files with their parser, the same set on OpenML, and the sizes both must have."""

    files: tuple[str, ...]
    parse: Callable[[Sequence[bytes]], Parsed]
    openml_id: int
    shape: tuple[int, int]
    counts: Mapping[int, int]

    def check(self, parsed: Parsed, origin: str) -> Parsed:
        """Refuse arrays without the shape and the label counts of the original files."""
        values, counts = np.unique(parsed.y, return_counts=True)
        found = dict(zip(values.tolist(), counts.tolist(), strict=True))
        if parsed.X.shape != self.shape or found != dict(self.counts):
            raise ValueError(
                f"{origin} is not the expected data set: shape {parsed.X.shape} with label counts {found}, "
                f"expected {self.shape} with {dict(self.counts)}."
            )
        return parsed


_DIGITS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)

SOURCES = {
    "ads": Source(ads.FILES, ads.parse, 40978, (3279, 1554), {-1: 459, 1: 2820}),
    "adult": Source(adult.FILES, adult.parse, 1590, (48842, 108), {-1: 37155, 1: 11687}),
    "mnist": Source(mnist.FILES, mnist.parse, 554, (70000, 784), dict(enumerate(_DIGITS))),
}
