"""Thresholds of a goal: searched for on validation rows, tested on held-out rows.

Names load on first use, so that the goals can be listed without NumPy.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.certificates.thresholds.candidate_grids import (
        falling,
        falling_to_all,
        rising,
        scores_for,
        whole_failures,
    )
    from abnet.certificates.thresholds.candidates import Candidates, abstentions, cuts
    from abnet.certificates.thresholds.fixed_sequence_test import best_passed, complement, counts_above, cut_counts
    from abnet.certificates.thresholds.least_cost import cheapest, cheapest_rule

__all__ = [
    "Candidates",
    "abstentions",
    "best_passed",
    "cheapest",
    "cheapest_rule",
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
        "abnet.certificates.thresholds.least_cost": ["cheapest", "cheapest_rule"],
        "abnet.certificates.thresholds.candidate_grids": [
            "falling",
            "falling_to_all",
            "rising",
            "scores_for",
            "whole_failures",
        ],
        "abnet.certificates.thresholds.fixed_sequence_test": [
            "best_passed",
            "complement",
            "counts_above",
            "cut_counts",
        ],
    },
)
