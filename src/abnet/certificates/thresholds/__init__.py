"""Thresholds of a goal: searched for on validation rows, tested on held-out rows.

Names load on first use, so that the goals can be listed without NumPy.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.certificates.thresholds.candidates import Candidates, abstentions, cuts
    from abnet.certificates.thresholds.least_cost import cheapest
    from abnet.certificates.thresholds.search import falling, falling_to_all, rising, scores_for, whole_failures
    from abnet.certificates.thresholds.sequence import best_passed, complement, counts_above, cut_counts

__all__ = [
    "Candidates",
    "abstentions",
    "best_passed",
    "cheapest",
    "complement",
    "counts_above",
    "cut_counts",
    "cuts",
    "falling",
    "falling_to_all",
    "rising",
    "scores_for",
    "whole_failures",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.certificates.thresholds.candidates": ["Candidates", "abstentions", "cuts"],
        "abnet.certificates.thresholds.least_cost": ["cheapest"],
        "abnet.certificates.thresholds.search": ["falling", "falling_to_all", "rising", "scores_for", "whole_failures"],
        "abnet.certificates.thresholds.sequence": ["best_passed", "complement", "counts_above", "cut_counts"],
    },
)
