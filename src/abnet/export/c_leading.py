"""The leading layer in C: four inputs at a time, and the sums of thermometer codes looked up in tables."""

from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_single import least_reaching
from abnet.export.c_text import CPart, c_array, c_reals, defines
from abnet.export.export_plan import ExportPlan
from abnet.model.predictors.weight_steps import steps_of

__all__ = ["leading_code"]

_SUMS = """
/* w_u x + b_u of every neuron u of the first layer, for inputs x; the squared norm of x. */
static double abnet_sums(const float *f, double *restrict z) {
    double norm = ABNET_CODES; /* each code is -1 or 1 */
%(declared)s    int i, u;
    for (u = 0; u < ABNET_UNITS; u++) z[u] = abnet_b[u];
%(inputs)s%(codes)s    return norm;
}
"""

_INPUTS = """    for (i = %(start)d; i < %(end)d; i += %(step)d) {
        const double %(x)s;
        if (%(any)s) {
            norm += %(squares)s;
            for (u = 0; u < ABNET_UNITS; u++)
                z[u] += %(products)s;
        }
    }
"""


def _inputs(n: int) -> str:
    """The products of n inputs, four at a time: a sum is then read and written once for four of them."""
    last = n - n % 4
    code = ""
    if last > 0:
        code += _loop_over_inputs(0, last, step=4)
    if last < n:
        code += _loop_over_inputs(last, n, step=n - last)
    return code


def _loop_over_inputs(start: int, end: int, *, step: int) -> str:
    products = [f"x{j} * abnet_W[(i + {j}) * ABNET_UNITS + u]" for j in range(step)]
    return _INPUTS % {
        "start": start,
        "end": end,
        "step": step,
        "x": ", ".join(f"x{j} = f[i + {j}]" for j in range(step)),
        "any": " || ".join(f"f[i + {j}] != 0.0f" for j in range(step)),
        "squares": " + ".join(f"x{j} * x{j}" for j in range(step)),
        "products": "\n                    + ".join(products),
    }


_CODES = """    for (i = 0; i < ABNET_CODED; i++) {
        /* A value that reaches k of n thresholds has k codes of 1, then n - k of -1: row k of a table. */
        const float x = f[abnet_coded[i]];
        int k, row = abnet_first[i] + i;
        for (k = abnet_first[i]; k < abnet_first[i + 1]; k++) row += x >= abnet_thresholds[k];
        for (u = 0; u < ABNET_UNITS; u++) %(into)s[u] += abnet_sums_of[row * ABNET_UNITS + u];
    }
"""

_WHOLE = "    for (u = 0; u < ABNET_UNITS; u++) z[u] += abnet_step[u] * (double)whole[u];\n"
"""Sums that are whole multiples of a step for each neuron: exact, and a quarter of the bytes."""


def leading_code(W: NDArray[np.float64], b: NDArray[np.float64], plan: ExportPlan) -> CPart:
    """Constants of a leading layer W (units, inputs), input by input, so that units are neighbours; `abnet_sums`."""
    n_inputs = W.shape[1] - plan.n_codes
    parts = [
        defines(UNITS=len(b), CODES=plan.n_codes, FEATURES=n_inputs),
        c_reals("abnet_b", b),
        c_reals("abnet_W", W[:, :n_inputs].T),
    ]
    ram = 8 * len(b)
    declared = ""
    codes = ""
    if plan.n_codes:
        coded = [place for place, thresholds in enumerate(plan.thresholds) if thresholds]
        lengths = [len(plan.thresholds[place]) for place in coded]
        parts += _code_tables(plan, coded, lengths)
        steps = steps_of(W[:, n_inputs:])
        sums = _sums_of_codes(W[:, n_inputs:].T, lengths)
        whole = np.round(sums / steps)
        if np.abs(whole).max() < 2**15 and (whole * steps == sums).all():
            parts.append(CPart(c_array("short", "abnet_sums_of", whole), flash=2 * whole.size))
            parts.append(c_reals("abnet_step", steps))
            ram += 4 * len(b)
            declared = "    int whole[ABNET_UNITS] = {0};\n"
            codes = _CODES % {"into": "whole"} + _WHOLE
        else:
            parts.append(c_reals("abnet_sums_of", sums))
            codes = _CODES % {"into": "z"}
    code = _SUMS % {"inputs": _inputs(n_inputs), "codes": codes, "declared": declared}
    return reduce(add, parts) + CPart(code, ram=ram)


def _code_tables(plan: ExportPlan, coded: list[int], lengths: list[int]) -> list[CPart]:
    """Which features have codes, where the thresholds of each begin, and all thresholds."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    thresholds = [threshold for place in coded for threshold in plan.thresholds[place]]
    return [
        defines(CODED=len(coded)),
        CPart(c_array("int", "abnet_coded", coded), flash=4 * len(coded)),
        CPart(c_array("int", "abnet_first", starts), flash=4 * len(starts)),
        c_reals("abnet_thresholds", least_reaching(thresholds)),
    ]


def _sums_of_codes(W: NDArray[np.float64], lengths: list[int]) -> NDArray[np.float64]:
    """For each feature with n codes, whose weights are n rows of W, n + 1 rows: ``Σ_{j<k} w_j - Σ_{j>=k} w_j``."""
    tables = []
    start = 0
    for n in lengths:
        reached = np.vstack([np.zeros(W.shape[1]), np.cumsum(W[start : start + n], axis=0)])
        tables.append(2 * reached - reached[-1])
        start += n
    return np.vstack(tables)
