"""The precision of a cut: `PrecisionBound` for a fixed threshold, `PrecisionTest` for a target."""

from typing import ClassVar, Literal

from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutRateBound, Successes
from abnet.certificates.statements.rate_test import CutTest
from abnet.utils.wording import shortened

__all__ = ["PrecisionBound", "PrecisionTest"]


class PrecisionBound(CutRateBound, frozen=True, tag="precision"):
    """A lower bound on the share of the rows above the threshold that are positive."""

    quantity: ClassVar[str] = "precision for"

    @classmethod
    def successes_of(cls, counts: CutCounts) -> Successes:
        """Positive rows above the threshold, of all rows above it."""
        return Successes(counts.positives_above, counts.rows_above)

    @classmethod
    def counts_of(cls, successes: int, n: int) -> dict[str, int]:
        """Positive rows above the threshold, of all rows above it."""
        return {"positives_above": successes, "rows_above": n}

    @classmethod
    def words(cls, rate: str, label: str) -> str:
        """The main clause."""
        return f"at least {rate} of new rows predicted as {label} are of class {label}"


class PrecisionTest(CutTest, frozen=True, tag="precision, tested"):
    """A target precision."""

    rate_bound: ClassVar[type[CutRateBound]] = PrecisionBound
    leaves_open: ClassVar[Literal["false alarms", "misses"] | None] = "misses"

    @property
    def headline(self) -> str:
        """What the value is."""
        name = shortened(self.label, 60)
        return f"precision for {name} (lower bound): the share of rows called {name} that are {name}"
