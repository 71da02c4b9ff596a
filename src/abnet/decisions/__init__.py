"""What is done with bounds: abstaining, targets, costs, groups, comparisons, and watching a deployed model.

All of it is for models that did not learn from the rows at hand, ours or anybody's: arrays of errors, losses and scores
in, frozen records out, in NumPy and SciPy alone.
"""

from abnet.decisions.abstain import (
    ANSWER_ALL,
    Abstention,
    RiskCoverage,
    abstention,
    risk_coverage,
    score_thresholds,
)
from abnet.decisions.answers import certify_scores, meet_costs, meet_target
from abnet.decisions.certify_model import certify, certify_judged, compare_errors, load_certificate
from abnet.decisions.compare_errors import ErrorComparison, compare_wrong
from abnet.decisions.costs import CostCertificate, certify_costs, cheapest_threshold, cost_table, row_costs
from abnet.decisions.fixed_sequence import error_free_rows, fixed_sequence, rows_needed
from abnet.decisions.groups import (
    PopulationError,
    PopulationErrors,
    certify_groups,
    errors_by,
    group_averaged_bound,
    group_totals,
    one_row_per_group_bound,
    row_weighted_bound,
)
from abnet.decisions.monitor import Monitor
from abnet.decisions.outside import Judged, judge_answers, judge_model
from abnet.decisions.row_by_row import check_row_by_row
from abnet.decisions.targets import (
    TargetThreshold,
    ThresholdGrid,
    precision_grid,
    recall_grid,
    specificity_grid,
    target_precision,
    target_recall,
    target_specificity,
)
from abnet.decisions.training_rows import ErrorEstimate

__all__ = [
    "ANSWER_ALL",
    "Abstention",
    "CostCertificate",
    "ErrorComparison",
    "ErrorEstimate",
    "Judged",
    "Monitor",
    "PopulationError",
    "PopulationErrors",
    "RiskCoverage",
    "TargetThreshold",
    "ThresholdGrid",
    "abstention",
    "certify",
    "certify_costs",
    "certify_groups",
    "certify_judged",
    "certify_scores",
    "cheapest_threshold",
    "check_row_by_row",
    "compare_errors",
    "compare_wrong",
    "cost_table",
    "error_free_rows",
    "errors_by",
    "fixed_sequence",
    "group_averaged_bound",
    "group_totals",
    "judge_answers",
    "judge_model",
    "load_certificate",
    "meet_costs",
    "meet_target",
    "one_row_per_group_bound",
    "precision_grid",
    "recall_grid",
    "risk_coverage",
    "row_costs",
    "row_weighted_bound",
    "rows_needed",
    "score_thresholds",
    "specificity_grid",
    "target_precision",
    "target_recall",
    "target_specificity",
]
