"""C code from scores to answers and probabilities, by the model's decision and calibration."""

from abnet.certificates.expected_costs import ExpectedCosts
from abnet.export.c_text import CPart, c_number
from abnet.export.export_plan import ExportPlan

__all__ = ["decision_code", "probability_code"]

_DECIDE = """
/* %(comment)s */
static int abnet_decide(const double *scores) {
%(lines)s
}
"""

_FIND_BEST = """    int k, best = 0;
    for (k = 1; k < ABNET_CLASSES; k++)
        if (scores[k] > scores[best]) best = k;
"""


def decision_code(plan: ExportPlan) -> CPart:
    """``static int abnet_decide(const double *scores)``: the code of the answer, or ABNET_NO_ANSWER."""
    if plan.model.decision.costs is not None:
        return _cheapest(plan.model.decision.costs)
    if plan.model.decision.kind == "cut":
        return _cut(plan)
    if plan.model.n_classes == 2:
        find_best = ""
        best = "scores[0] >= 0.0 ? 1 : 0"
        best_score = "(scores[0] < 0.0 ? -scores[0] : scores[0])"
    else:
        find_best = _FIND_BEST
        best = "best"
        best_score = "scores[best]"
    threshold = plan.model.decision.threshold
    if threshold is None:
        comment = "The class with the largest score."
        answer = best
    else:
        comment = "The class with the largest score, where that is above the threshold."
        answer = f"{best_score} > {c_number(threshold, single=False)} ? ({best}) : ABNET_NO_ANSWER"
    return CPart(_DECIDE % {"comment": comment, "lines": f"{find_best}    return {answer};"})


_CHEAPEST = """    static const double costs[ABNET_CLASSES][ABNET_CLASSES] = {
%(table)s
    };
    double totals[ABNET_CLASSES] = {0.0}, largest = 0.0, weight;
    int j, k, best = 0;
    for (j = 0; j < ABNET_CLASSES; j++)
        if (scores[j] > largest) largest = scores[j];
    for (j = 0; j < ABNET_CLASSES; j++) {
        weight = pow(((scores[j] > 0.0 ? scores[j] : 0.0) + %(floor)s) / (largest + %(floor)s), %(power)s);
        for (k = 0; k < ABNET_CLASSES; k++) totals[k] += weight * costs[j][k];
    }
    for (k = 1; k < ABNET_CLASSES; k++)
        if (totals[k] < totals[best]) best = k;
    return best;"""


def _cheapest(costs: ExpectedCosts) -> CPart:
    """The class with the least expected cost."""
    rows = []
    for row in costs.table:
        rows.append("        {" + ", ".join(c_number(cost, single=False) for cost in row) + "}")
    floor = c_number(costs.floor, single=False)
    power = c_number(costs.power, single=False)
    lines = _CHEAPEST % {"table": ",\n".join(rows), "floor": floor, "power": power}
    n_classes = len(costs.table)
    comment = "The class with the least expected cost."
    return CPart(_DECIDE % {"comment": comment, "lines": lines}, flash=8 * n_classes**2, ram=8 * n_classes, libm=True)


def _cut(plan: ExportPlan) -> CPart:
    """The positive class where its score exceeds the threshold of the decision."""
    decision = plan.model.decision
    assert decision.threshold is not None
    threshold = c_number(decision.threshold, single=False)
    # The score is that of the class of code 1; the score of the other class is its negative.
    if decision.positive == 1:
        line = f"    return scores[0] > {threshold} ? 1 : 0;"
    else:
        line = f"    return -scores[0] > {threshold} ? 0 : 1;"
    return CPart(_DECIDE % {"comment": "The positive class where its score exceeds the threshold.", "lines": line})


# Probabilities

_SHARES = """
/* The probabilities of the classes%(how)s. */
static void abnet_shares(const double *scores, float *probabilities) {
    double p[ABNET_CLASSES]%(declared)s;
    int k;
%(shares)s%(calibrated)s    for (k = 0; k < ABNET_CLASSES; k++) probabilities[k] = (float)p[k];
}
"""
_TWO = """    p[1] = 0.5 + 0.5 * scores[0];
    p[0] = 1.0 - p[1];
"""
_SEVERAL = "    for (k = 0; k < ABNET_CLASSES; k++) p[k] = scores[k];\n"
_CALIBRATED = """    for (k = 0; k < ABNET_CLASSES; k++) {
        p[k] = %(power)s * log((p[k] > 0.0 ? p[k] : 0.0) + %(floor)s); /* a share may be below 0 by rounding */
        if (p[k] > largest) largest = p[k];
    }
    for (k = 0; k < ABNET_CLASSES; k++) total += p[k] = exp(p[k] - largest);
    for (k = 0; k < ABNET_CLASSES; k++) p[k] /= total;
"""


def probability_code(plan: ExportPlan) -> CPart:
    """``static void abnet_shares(const double *scores, float *probabilities)``; empty if there are none."""
    if not plan.model.predictor.shares:
        return CPart("")
    n_classes = plan.model.n_classes
    calibration = plan.model.calibration
    shares = _SEVERAL
    if n_classes == 2:
        shares = _TWO
    if calibration is None:
        code = _SHARES % {"shares": shares, "how": "", "declared": "", "calibrated": ""}
        return CPart(code, ram=8 * n_classes)
    power = c_number(calibration.power, single=False)
    floor = c_number(calibration.floor, single=False)
    code = _SHARES % {
        "shares": shares,
        "how": ": p_j in proportion to (share_j + floor)^power",
        "declared": ", largest = -HUGE_VAL, total = 0.0",
        "calibrated": _CALIBRATED % {"power": power, "floor": floor},
    }
    return CPart(code, ram=8 * n_classes, libm=True)
