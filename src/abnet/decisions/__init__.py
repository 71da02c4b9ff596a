"""Certify, compare and monitor fitted models of this or any other library.

The functions return certificates (`abnet.certificates`) and need only NumPy and SciPy.
"""

from abnet.decisions.certify_model import certify, certify_judged, confusion_of
from abnet.decisions.compare_errors import compare_errors, compare_judged
from abnet.decisions.monitor import Monitor
from abnet.decisions.outside import Judged, judge_answers, judge_model
from abnet.decisions.row_by_row import check_row_by_row
from abnet.decisions.scores import certify_scores

__all__ = [
    "Judged",
    "Monitor",
    "certify",
    "certify_judged",
    "certify_scores",
    "check_row_by_row",
    "compare_errors",
    "compare_judged",
    "confusion_of",
    "judge_answers",
    "judge_model",
]
