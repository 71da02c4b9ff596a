"""The leading layer in C: four inputs at a time, and the sums of thermometer codes looked up in tables."""

from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_single import least_reaching
from abnet.export.c_text import CPart, c_array, c_reals, defines
from abnet.export.plan import ExportPlan
from abnet.model.predictors.steps import steps_of

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
    loops = []
    for start, end, step in ((0, n - n % 4, 4), (n - n % 4, n, n % 4)):
        several = range(step)
        words = {
            "x": ", ".join(f"x{j} = f[i + {j}]" for j in several),
            "any": " || ".join(f"f[i + {j}] != 0.0f" for j in several),
            "squares": " + ".join(f"x{j} * x{j}" for j in several),
            "products": "\n                    + ".join(
                f"x{j} * abnet_W[(i + {j}) * ABNET_UNITS + u]" for j in several
            ),
        }
        loops += [_INPUTS % (words | {"start": start, "end": end, "step": step})] * (start < end)
    return "".join(loops)


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
    base = W.shape[1] - plan.n_codes
    sizes = defines(UNITS=len(b), CODES=plan.n_codes, FEATURES=base)
    parts = [sizes, c_reals("abnet_b", b), c_reals("abnet_W", W[:, :base].T)]
    if plan.n_codes:
        coded = [place for place, thresholds in enumerate(plan.thresholds) if thresholds]
        lengths = [len(plan.thresholds[place]) for place in coded]
        first = np.concatenate([[0], np.cumsum(lengths)])
        parts += [
            defines(CODED=len(coded)),
            CPart(c_array("int", "abnet_coded", coded), 4 * len(coded)),
            CPart(c_array("int", "abnet_first", first), 4 * len(first)),
            c_reals("abnet_thresholds", least_reaching([t for place in coded for t in plan.thresholds[place]])),
        ]
    ram, words = 8 * len(b), {"inputs": _inputs(base), "codes": "", "declared": ""}
    if plan.n_codes:
        steps, sums = steps_of(W[:, base:]), _sums_of_codes(W[:, base:].T, lengths)
        whole = np.round(sums / steps)
        if np.abs(whole).max() < 2**15 and (whole * steps == sums).all():
            parts += [
                CPart(c_array("short", "abnet_sums_of", whole), 2 * whole.size),
                c_reals("abnet_step", steps),
            ]
            ram += 4 * len(b)
            words["declared"] = "    int whole[ABNET_UNITS] = {0};\n"
            words["codes"] = _CODES % {"into": "whole"} + _WHOLE
        else:
            parts.append(c_reals("abnet_sums_of", sums))
            words["codes"] = _CODES % {"into": "z"}
    parts.append(CPart(_SUMS % words, 0, ram))
    return reduce(add, parts)


def _sums_of_codes(W: NDArray[np.float64], lengths: list[int]) -> NDArray[np.float64]:
    """For each feature with n codes, whose weights are n rows of W, n + 1 rows: ``Σ_{j<k} w_j - Σ_{j>=k} w_j``."""
    tables, start = [], 0
    for n in lengths:
        reached = np.vstack([np.zeros(W.shape[1]), np.cumsum(W[start : start + n], axis=0)])
        tables.append(2 * reached - reached[-1])
        start += n
    return np.vstack(tables)
