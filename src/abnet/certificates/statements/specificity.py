"""The specificity of a cut: `SpecificityBound` for a fixed threshold, `SpecificityTest` for a target."""

from typing import ClassVar, Literal

from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutRateBound, Successes
from abnet.certificates.statements.rate_test import CutTest
from abnet.utils.wording import shortened

__all__ = ["SpecificityBound", "SpecificityTest"]


class SpecificityBound(CutRateBound, frozen=True, tag="specificity"):
    """A lower bound on the share of the rows of other classes that are not above the threshold."""

    quantity: ClassVar[str] = "specificity for"

    @classmethod
    def successes_of(cls, counts: CutCounts) -> Successes:
        """Rows of other classes that are not above the threshold, of all rows of other classes."""
        return Successes(counts.others - counts.others_above, counts.others)

    @classmethod
    def counts_of(cls, successes: int, n: int) -> dict[str, int]:
        """Rows of other classes above the threshold, of all rows of other classes."""
        return {"others_above": n - successes, "others": n}

    @classmethod
    def words(cls, rate: str, label: str) -> str:
        """The main clause."""
        return f"at least {rate} of new rows that are not of class {label} are not predicted as {label}"


class SpecificityTest(CutTest, frozen=True, tag="specificity, tested"):
    """A target specificity."""

    rate_bound: ClassVar[type[CutRateBound]] = SpecificityBound
    leaves_open: ClassVar[Literal["false alarms", "misses"] | None] = "misses"

    @property
    def headline(self) -> str:
        """What the value is."""
        name = shortened(self.label, 60)
        return (
            f"specificity for {name} (lower bound): the share of other rows that the decision rule does not call {name}"
        )
