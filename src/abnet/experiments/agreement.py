"""Where our Table 1 agrees with the paper's, by a rule stated beforehand."""

from collections.abc import Iterable
from dataclasses import dataclass

from abnet.experiments.comparison import Comparison

__all__ = ["Disagreement", "agreement_text", "disagreements"]

BOUND_MARGIN = 0.005
ERROR_MARGIN = 0.003

RULE = (
    "A bound agrees if it is at most 0.005 above the paper's (narrow PBGNet and ABNet), a test error if it is at most "
    "two of the paper's standard deviations plus 0.003 above the paper's; lower is always fine."
)


@dataclass(frozen=True)
class Disagreement:
    """A figure of ours that is worse than the paper's by more than the rule allows."""

    comparison: Comparison
    figure: str
    ours: float
    paper: float
    allowed: float

    def __str__(self) -> str:
        row = self.comparison.ours
        return (
            f"{row.dataset}, {row.architecture}, {row.model.replace('_l', 'ℓ')}: {self.figure} {self.ours:.3f}, paper "
            f"{self.paper:.3f} (allowed up to {self.allowed:.3f})"
        )


def disagreements(comparisons: Iterable[Comparison]) -> list[Disagreement]:
    """Return the figures that do not agree, in the order of the table."""
    return [found for c in comparisons for found in (_bound(c), _error(c)) if found is not None]


def agreement_text(comparisons: Iterable[Comparison]) -> str:
    """Return the rule, the number of rows that agree and those that do not, as Markdown.

    Examples
    --------
    >>> agreement_text([]).endswith("None of 0 rows breaks the rule.")
    True
    """
    compared = [c for c in comparisons if c.paper is not None]
    found = disagreements(compared)
    if not found:
        return f"{RULE} None of {len(compared)} rows breaks the rule."
    rows = {e.comparison.ours.cell for e in found}
    lines = "\n".join(f"- {e}" for e in found)
    return f"{RULE} {len(compared) - len(rows)} of {len(compared)} rows agree. The others:\n\n{lines}"


def _bound(c: Comparison) -> Disagreement | None:
    applies = c.ours.model in ("PBGNet", "ABNet") and c.ours.architecture == "narrow"
    if not applies or c.paper is None or c.ours.bound is None or c.paper.bound is None:
        return None
    return _worse(c, "bound", c.ours.bound, c.paper.bound, c.paper.bound + BOUND_MARGIN)


def _error(c: Comparison) -> Disagreement | None:
    if c.paper is None or c.ours.test_error is None or c.paper.test_error is None:
        return None
    allowed = c.paper.test_error + 2 * (c.paper.test_error_std or 0.0) + ERROR_MARGIN
    return _worse(c, "test error", c.ours.test_error, c.paper.test_error, allowed)


def _worse(c: Comparison, figure: str, ours: float, paper: float, allowed: float) -> Disagreement | None:
    return Disagreement(c, figure, ours, paper, allowed) if ours > allowed + 1e-12 else None
