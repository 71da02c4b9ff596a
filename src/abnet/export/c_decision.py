"""C code from scores to answers and probabilities, by the model's decision and calibration."""

from abnet.export.c_text import CPart, c_number
from abnet.export.plan import ExportPlan

__all__ = ["decision_code", "probability_code"]

_DECIDE = """
/* %(words)s */
static int abnet_decide(const double *scores) {
%(lines)s
}
"""

_LARGEST = """    int k, best = 0;
    for (k = 1; k < ABNET_CLASSES; k++)
        if (scores[k] > scores[best]) best = k;"""


def decision_code(plan: ExportPlan) -> CPart:
    """``static int abnet_decide(const double *scores)``: the code of the answer, or ABNET_NO_ANSWER."""
    decision, two = plan.model.decision, plan.model.n_classes == 2
    threshold = "" if decision.threshold is None else c_number(decision.threshold, single=False)
    if decision.kind == "cut":
        yes = int(decision.positive or 0)
        lines = f"    return {'' if yes else '-'}scores[0] > {threshold} ? {yes} : {1 - yes};"
        return CPart(_DECIDE % {"words": "The positive class where its score exceeds the threshold.", "lines": lines})
    best = "scores[0] >= 0.0 ? 1 : 0" if two else "best"
    sure = "(scores[0] < 0.0 ? -scores[0] : scores[0])" if two else "scores[best]"
    answer = f"{sure} > {threshold} ? ({best}) : ABNET_NO_ANSWER" if threshold else best
    words = "The class with the largest score" + (", where that is above the threshold." if threshold else ".")
    lines = "\n".join([*[_LARGEST] * (not two), f"    return {answer};"])
    return CPart(_DECIDE % {"words": words, "lines": lines})


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
    n, calibration = plan.model.n_classes, plan.model.calibration
    words = {"shares": _TWO if n == 2 else _SEVERAL, "how": "", "declared": "", "calibrated": ""}
    if calibration is not None:
        power, floor = (c_number(value, single=False) for value in (calibration.power, calibration.floor))
        words["how"] = ": p_j in proportion to (share_j + floor)^power"
        words["declared"] = ", largest = -HUGE_VAL, total = 0.0"
        words["calibrated"] = _CALIBRATED % {"power": power, "floor": floor}
    return CPart(_SHARES % words, 0, 8 * n, calibration is not None)
