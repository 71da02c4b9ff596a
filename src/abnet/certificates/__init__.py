"""Certificates: split the rows, observe a model on the held-out rows, and state what the observations prove.

Any fitted classifier can be certified, compared and monitored, of this library or of another.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.certificates.certify_model import certify_judged, confusion_of
    from abnet.certificates.keyed_order import row_order
    from abnet.certificates.monitor import Monitor
    from abnet.certificates.outside import Judged, judge_answers, judge_model
    from abnet.certificates.paired_errors import compare_errors, compare_judged
    from abnet.certificates.random_seed import drawn_seed
    from abnet.certificates.row_by_row import check_row_by_row
    from abnet.certificates.row_hashing import row_hashes
    from abnet.certificates.scores import certify_scores
    from abnet.certificates.split import Split
    from abnet.certificates.statements.statement import Statement

__all__ = [
    "Judged",
    "Monitor",
    "Split",
    "Statement",
    "certify_judged",
    "certify_scores",
    "check_row_by_row",
    "compare_errors",
    "compare_judged",
    "confusion_of",
    "drawn_seed",
    "judge_answers",
    "judge_model",
    "row_hashes",
    "row_order",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.certificates.certify_model": ["certify_judged", "confusion_of"],
        "abnet.certificates.paired_errors": ["compare_errors", "compare_judged"],
        "abnet.certificates.monitor": ["Monitor"],
        "abnet.certificates.outside": ["Judged", "judge_answers", "judge_model"],
        "abnet.certificates.row_by_row": ["check_row_by_row"],
        "abnet.certificates.scores": ["certify_scores"],
        "abnet.certificates.keyed_order": ["row_order"],
        "abnet.certificates.random_seed": ["drawn_seed"],
        "abnet.certificates.row_hashing": ["row_hashes"],
        "abnet.certificates.split": ["Split"],
        "abnet.certificates.statements.statement": ["Statement"],
    },
)
