"""The recall of a cut: `RecallBound` for a fixed threshold, `RecallTest` for a target."""

from typing import ClassVar, Literal

from abnet.bounds.local_level import chosen_rate_lower
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutRateBound, Successes
from abnet.certificates.statements.rate_test import CutTest
from abnet.utils.wording import percent, shortened

__all__ = ["RecallBound", "RecallTest"]

RARE = 0.1
"""A rule that finds at most this share of the positive rows is warned about."""


class RecallBound(CutRateBound, frozen=True, tag="recall"):
    """A lower bound on the share of the positive rows that are above the threshold."""

    quantity: ClassVar[str] = "recall of"

    def bound(self) -> float:
        """Clopper-Pearson, at a level that holds at all thresholds jointly."""
        n_models = self.n_candidates // self.n_thresholds
        return chosen_rate_lower(self.successes, self.n, self.n_thresholds, self.delta, n_candidates=n_models)

    @classmethod
    def successes_of(cls, counts: CutCounts) -> Successes:
        """Positive rows above the threshold, of all positive rows."""
        return Successes(counts.positives_above, counts.positives)

    @classmethod
    def counts_of(cls, successes: int, n: int) -> dict[str, int]:
        """Positive rows above the threshold, of all positive rows."""
        return {"positives_above": successes, "positives": n}

    @classmethod
    def words(cls, rate: str, label: str) -> str:
        """The main clause."""
        return f"at least {rate} of new rows of class {label} are predicted as {label}"

    @property
    def warning(self) -> str | None:
        """A warning that the rule finds few of the rows."""
        share = self.successes / self.n
        if share > RARE:
            return None
        rows = f"held-out rows of class {self.label}"
        return f"The rule finds only {percent(share)} of the {rows} ({self.successes:,} of {self.n:,})."


class RecallTest(CutTest, frozen=True, tag="recall, tested"):
    """A target recall."""

    rate_bound: ClassVar[type[CutRateBound]] = RecallBound
    leaves_open: ClassVar[Literal["false alarms", "misses"] | None] = "false alarms"

    @property
    def headline(self) -> str:
        """What the value is."""
        name = shortened(self.label, 60)
        return f"recall of {name} (lower bound): the share of {name} rows that the decision rule finds"
