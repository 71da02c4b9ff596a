"""The network in C: the functions that compute a score, and probabilities, from features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_text import CPart, c_array, c_number, c_size
from abnet.export.plan import BitTable, CodeTable, ExportPlan, FixedPaths, SignLayers, VoteTable
from abnet.predictors.predictor import Calibration

__all__ = ["network_code", "probability_code"]


def network_code(plan: ExportPlan, real: str) -> CPart:
    """``static int abnet_scores(const float *f, double *scores)``: 0, or -1 if a feature is not finite."""
    network = plan.network
    if isinstance(network, VoteTable):
        return _vote(network, real)
    if isinstance(network, FixedPaths):
        return _paths(network, real)
    if isinstance(network, SignLayers):
        return _layers(network, real)
    return _bits(network, real) if isinstance(network, BitTable) else _codes(network, real)


BLOCK = 64
"""Features looked at at a time: those that are zero, four in five of an image's, are passed over without a branch."""
_SUMS = """
/* w_u f + b_u of every unit; the squared norm of f, or -1 if a feature is not finite. */
static double abnet_sums(const float *f, abnet_real *z) {
    unsigned char places[ABNET_BLOCK];
    double norm = 0.0;
    int start, i, k, u, n, count;
    for (u = 0; u < ABNET_UNITS; u++) z[u] = (abnet_real)abnet_b[u];
    for (start = 0; start < ABNET_FEATURES; start += ABNET_BLOCK) {
        n = ABNET_FEATURES - start < ABNET_BLOCK ? ABNET_FEATURES - start : ABNET_BLOCK;
        for (i = 0, count = 0; i < n; i++) {
            places[count] = (unsigned char)i;
            count += f[start + i] != 0.0f;
        }
        for (k = 0; k < count; k++) {
            const float x = f[start + places[k]];
            const %(real)s *w = abnet_W + (size_t)(start + places[k]) * ABNET_UNITS;
            norm += (double)x * (double)x;
            for (u = 0; u < ABNET_UNITS; u++) z[u] += (abnet_real)x * (abnet_real)w[u];
        }
    }
    return norm <= DBL_MAX ? norm : -1.0;
}
"""


def _leading(W: NDArray[np.float64], b: NDArray[np.float64], real: str) -> tuple[str, int]:
    """Constants of a leading layer W (units, features), feature by feature, so that units are neighbours."""
    arrays = [c_array(real, "abnet_W", W.T), c_array(real, "abnet_b", b)]
    defines = [f"#define ABNET_UNITS {len(b)}", f"#define ABNET_BLOCK {BLOCK}"]
    code = "\n".join([*defines, *arrays, _SUMS % {"real": real}])
    return code, (W.size + b.size) * c_size(real)


_CORNERS = """
/* Probabilities of the 2^d corners of a cube whose coordinates are independent with means m. */
static void abnet_corners(const abnet_real *m, int d, abnet_real *p) {
    const abnet_real half = (abnet_real)0.5;
    int i, j, n = 1;
    p[0] = 1;
    for (i = d - 1; i >= 0; i--, n *= 2)
        for (j = 0; j < n; j++) {
            p[n + j] = (half + half * m[i]) * p[j];
            p[j] *= half - half * m[i];
        }
}
"""

_VOTE = """
static int abnet_scores(const float *f, double *scores) {
    abnet_real z[ABNET_UNITS];
    abnet_real m[ABNET_WIDTH], first[1 << ABNET_FIRST], second[1 << ABNET_SECOND];
    abnet_real sums[ABNET_OUTPUTS << ABNET_SECOND];
    double root;
    const %(real)s *h = abnet_H;
    const double norm = abnet_sums(f, z);
    int i, j, k, member;
    if (norm < 0.0) return -1;
    root = sqrt(2.0 * (norm + 1.0));
    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] = 0.0;
    for (member = 0; member < ABNET_MEMBERS; member++) {
        for (i = 0; i < ABNET_WIDTH; i++) m[i] = (abnet_real)erf((double)z[member * ABNET_WIDTH + i] / root);
        abnet_corners(m, ABNET_FIRST, first);
        abnet_corners(m + ABNET_FIRST, ABNET_SECOND, second);
        for (j = 0; j < ABNET_OUTPUTS << ABNET_SECOND; j++) sums[j] = 0;
        for (i = 0; i < 1 << ABNET_FIRST; i++, h += ABNET_OUTPUTS << ABNET_SECOND)
            for (j = 0; j < ABNET_OUTPUTS << ABNET_SECOND; j++) sums[j] += first[i] * (abnet_real)h[j];
        for (j = 0; j < 1 << ABNET_SECOND; j++)
            for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] += (double)(second[j] * sums[j * ABNET_OUTPUTS + k]);
    }
    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] /= ABNET_MEMBERS;
    return 0;
}
"""


def _vote(network: VoteTable, real: str) -> CPart:
    members, width, n = network.W.shape
    outputs, first = network.H.shape[2], width // 2
    leading, flash = _leading(network.W.reshape(-1, n), network.b.reshape(-1), real)
    sizes = {"MEMBERS": members, "WIDTH": width, "FIRST": first, "SECOND": width - first, "OUTPUTS": outputs}
    defines = [f"#define ABNET_{name} {value}" for name, value in sizes.items()]
    code = "\n".join([*defines, leading, c_array(real, "abnet_H", network.H), _CORNERS, _VOTE % {"real": real}])
    ram = BLOCK + 8 * (members * width + width + 2**first + (1 + outputs) * 2 ** (width - first))
    return CPart(code, flash + network.H.size * c_size(real), ram, libm=True)


_BITS = """
static int abnet_scores(const float *f, double *scores) {
    abnet_real z[ABNET_UNITS];
    unsigned long place = 0;
    int u;
    if (abnet_sums(f, z) < 0.0) return -1;
    for (u = 0; u < ABNET_UNITS; u++) place = 2 * place + (z[u] >= 0 ? 1 : 0);
    scores[0] = abnet_bits[place >> 3] >> (7 - (place & 7)) & 1 ? 1.0 : -1.0;
    return 0;
}
"""


def _bits(network: BitTable, real: str) -> CPart:
    leading, flash = _leading(network.W, network.b, real)
    code = "\n".join(["#define ABNET_OUTPUTS 1", leading, c_array("unsigned char", "abnet_bits", network.bits), _BITS])
    return CPart(code, flash + network.bits.size, BLOCK + 8 * len(network.b))


_CODES = """
static int abnet_scores(const float *f, double *scores) {
    abnet_real z[ABNET_UNITS];
    unsigned long place = 0;
    int k, u;
    if (abnet_sums(f, z) < 0.0) return -1;
    for (u = 0; u < ABNET_UNITS; u++) place = 2 * place + (z[u] >= 0 ? 1 : 0);
    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] = k == abnet_class[place] ? 1.0 : 0.0;
    return 0;
}
"""


def _codes(network: CodeTable, real: str) -> CPart:
    leading, flash = _leading(network.W, network.b, real)
    table, size = _classes(network.codes)
    code = "\n".join(["#define ABNET_OUTPUTS ABNET_CLASSES", leading, table, _CODES])
    return CPart(code, flash + size, BLOCK + 8 * len(network.b))


def _classes(codes: NDArray[np.intp]) -> tuple[str, int]:
    """The class of each representation of the outputs, and its bytes."""
    kind, size = ("unsigned char", 1) if codes.max() < 256 else ("unsigned short", 2)
    return c_array(kind, "abnet_class", codes), size * len(codes)


_LAYER = """
/* The signs of a layer of units, from the n signs below. */
static void abnet_layer(
    const signed char *s, int n, const %(real)s *w, const %(real)s *b, int units, signed char *out) {
    int i, u;
    for (u = 0; u < units; u++, w += n) {
        abnet_real z = (abnet_real)b[u];
        for (i = 0; i < n; i++) z += (abnet_real)s[i] * (abnet_real)w[i];
        out[u] = z >= 0 ? 1 : -1;
    }
}
"""


def _layers(network: SignLayers, real: str) -> CPart:
    leading, flash = _leading(network.weights[0], network.biases[0], real)
    widths = [len(b) for b in network.biases]
    above = [
        c_array(real, f"abnet_{name}{k}", values)
        for k in range(1, len(widths))
        for name, values in (("W", network.weights[k]), ("b", network.biases[k]))
    ]
    widest = max(widths)
    calls = [
        f"    abnet_layer(s[{(k - 1) % 2}], {widths[k - 1]}, abnet_W{k}, abnet_b{k}, {widths[k]}, s[{k % 2}]);"
        for k in range(1, len(widths))
    ]
    table, size = (None, 0) if network.codes is None else _classes(network.codes)
    last = f"s[{(len(widths) - 1) % 2}]"
    decoded = [
        f"    for (u = 0; u < {widths[-1]}; u++) place = 2 * place + ({last}[u] > 0 ? 1 : 0);",
        "    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] = k == abnet_class[place] ? 1.0 : 0.0;",
    ]
    function = [
        "static int abnet_scores(const float *f, double *scores) {",
        "    abnet_real z[ABNET_UNITS];",
        f"    signed char s[2][{widest}];",
        "    int u;",
        *([] if table is None else ["    int k, place = 0;"]),
        "    if (abnet_sums(f, z) < 0.0) return -1;",
        "    for (u = 0; u < ABNET_UNITS; u++) s[0][u] = z[u] >= 0 ? 1 : -1;",
        *calls,
        *([f"    scores[0] = {last}[0];"] if table is None else decoded),
        "    return 0;",
        "}",
    ]
    outputs = f"#define ABNET_OUTPUTS {1 if table is None else 'ABNET_CLASSES'}"
    code = "\n".join([outputs, leading, *above, table or "", _LAYER % {"real": real}, *function])
    numbers = sum(W.size + len(W) for W in network.weights[1:])
    return CPart(code, flash + size + numbers * c_size(real), BLOCK + 8 * widths[0] + 2 * widest)


_PATH_LAYER = """
/* (W s + b) / sqrt(n + 1) of a layer that reads n signs; w holds the weights of all units sign by sign. */
static void abnet_above(
    const abnet_real *s, int n, const %(real)s *w, const %(real)s *b, int units, abnet_real scale, abnet_real *z) {
    int i, u;
    for (u = 0; u < units; u++) z[u] = (abnet_real)b[u];
    for (i = 0; i < n; i++, w += units)
        for (u = 0; u < units; u++) z[u] += s[i] * (abnet_real)w[u];
    for (u = 0; u < units; u++) z[u] *= scale;
}

/* The signs of units whose sums are z and whose noise is e. */
static void abnet_signs(const abnet_real *z, const %(real)s *e, int units, abnet_real *s) {
    int u;
    for (u = 0; u < units; u++) s[u] = z[u] + (abnet_real)e[u] >= 0 ? (abnet_real)1 : (abnet_real)-1;
}
"""


def _paths(network: FixedPaths, real: str) -> CPart:
    """A loop over members and paths: signs layer by layer, the last layer's means, and what they stand for."""
    members, paths, first = network.noise[0].shape
    widths = [b.shape[1] for b in network.biases]
    leading, flash = _leading(network.weights[0].reshape(members * first, -1), network.biases[0].reshape(-1), real)
    arrays = [c_array(real, f"abnet_noise{k + 1}", noise) for k, noise in enumerate(network.noise)]
    for k in range(1, len(widths)):
        arrays.append(c_array(real, f"abnet_W{k + 1}", network.weights[k].transpose(0, 2, 1)))
        arrays.append(c_array(real, f"abnet_b{k + 1}", network.biases[k]))
    outputs = 1 if network.codes is None else "ABNET_CLASSES"
    sizes: dict[str, Any] = {"MEMBERS": members, "PATHS": paths, "OUTPUTS": outputs, "WIDTH": widths[-1]}
    sizes |= {"FIRST": widths[-1] // 2, "SECOND": widths[-1] - widths[-1] // 2}
    defines = [f"#define ABNET_{name} {value}" for name, value in sizes.items()]
    above = range(1, len(widths))
    numbers = sum(network.weights[k].size + network.biases[k].size for k in above) + sum(e.size for e in network.noise)
    flash, ram = flash + numbers * c_size(real), BLOCK + 8 * (members * first + 2 * max(widths))
    helpers = [_PATH_LAYER % {"real": real}]
    if network.codes is not None:
        table, size = _classes(network.codes)
        arrays.append(table)
        helpers.insert(0, _CORNERS)
        flash += size
        ram += 8 * (len(network.codes) + 2 ** sizes["FIRST"] + 2 ** sizes["SECOND"])
    code = [*defines, leading, *arrays, *helpers, _path_scores(network, widths)]
    return CPart("\n".join(code), flash, ram, libm=True)


def _path_scores(network: FixedPaths, widths: list[int]) -> str:
    several = network.codes is not None
    lines = [
        "static int abnet_scores(const float *f, double *scores) {",
        f"    abnet_real z[ABNET_UNITS], s[{max(widths)}], t[{max(widths)}];",
        "    abnet_real low[1 << ABNET_FIRST], high[1 << ABNET_SECOND], joint[1 << ABNET_WIDTH];" if several else "",
        "    double root;",
        "    const double norm = abnet_sums(f, z);",
        f"    int member, path, i{', j' * several};",
        "    if (norm < 0.0) return -1;",
        "    root = sqrt(norm + 1.0);",
        "    for (i = 0; i < ABNET_UNITS; i++) z[i] = (abnet_real)((double)z[i] / root);",
        "    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] = 0.0;",
        "    for (i = 0; i < 1 << ABNET_WIDTH; i++) joint[i] = 0;" if several else "",
        "    for (member = 0; member < ABNET_MEMBERS; member++)",
        "        for (path = 0; path < ABNET_PATHS; path++) {",
        "            const int place = member * ABNET_PATHS + path;",
    ]
    for k in range(1, len(widths)):
        below, units = widths[k - 1], widths[k]
        scale = c_number((below + 1) ** -0.5, single=False)
        sums = f"z + member * {below}" if k == 1 else "t"
        lines += [
            f"            abnet_signs({sums}, abnet_noise{k} + place * {below}, {below}, s);",
            f"            abnet_above(s, {below}, abnet_W{k + 1} + (size_t)member * {below * units}, "
            f"abnet_b{k + 1} + member * {units}, {units}, (abnet_real){scale}, t);",
        ]
    root_half = c_number(0.5**0.5, single=False)
    lines.append(f"            for (i = 0; i < ABNET_WIDTH; i++) t[i] = (abnet_real)erf({root_half} * (double)t[i]);")
    lines += [
        "            abnet_corners(t, ABNET_FIRST, low);",
        "            abnet_corners(t + ABNET_FIRST, ABNET_SECOND, high);",
        "            for (i = 0; i < 1 << ABNET_FIRST; i++)",
        "                for (j = 0; j < 1 << ABNET_SECOND; j++) joint[(i << ABNET_SECOND) + j] += low[i] * high[j];",
        "        }",
        "    for (i = 0; i < 1 << ABNET_WIDTH; i++) scores[abnet_class[i]] += (double)joint[i];",
    ] if several else ["            scores[0] += (double)t[0];", "        }"]  # fmt: skip
    lines += [
        "    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] /= (double)ABNET_MEMBERS * ABNET_PATHS;",
        "    return 0;",
        "}",
    ]
    return "\n".join(line for line in lines if line)


_SHARES = """
static void abnet_shares(const double *scores, double *p) {
%(body)s
}
"""
_CALIBRATE = """
/* p_j proportional to (share_j + floor)^power, the largest taken out first so that nothing overflows. */
static void abnet_calibrate(double *p) {
    double largest = -HUGE_VAL, total = 0.0;
    int k;
    for (k = 0; k < ABNET_CLASSES; k++) {
        p[k] = %(power)s * log(p[k] + %(floor)s);
        if (p[k] > largest) largest = p[k];
    }
    for (k = 0; k < ABNET_CLASSES; k++) total += p[k] = exp(p[k] - largest);
    for (k = 0; k < ABNET_CLASSES; k++) p[k] /= total;
}
"""


def probability_code(plan: ExportPlan) -> CPart:
    """``static void abnet_shares(const double *scores, double *p)``, empty for a network without probabilities."""
    if not plan.predictor.shares:
        return CPart("")
    constants = plan.two_outputs
    if constants is not None:
        code = c_array("double", "abnet_outputs", constants)
        lines = [
            "    const double *row = abnet_outputs + (scores[0] < 0.0 ? 0 : 2);",
            "    p[0] = row[0];",
            "    p[1] = row[1];",
        ]
        return CPart(f"{code}\n{_SHARES % {'body': chr(10).join(lines)}}", 8 * constants.size, 16)
    if plan.predictor.n_classes == 2:
        lines = ["    p[1] = 0.5 + 0.5 * scores[0];", "    p[0] = 1.0 - p[1];"]
    else:
        lines = ["    int k;", "    for (k = 0; k < ABNET_CLASSES; k++) p[k] = scores[k];"]
    calibration = plan.predictor.info.calibration
    if calibration is None:
        return CPart(_SHARES % {"body": "\n".join(lines)}, 0, 8 * plan.predictor.n_classes)
    # A share may leave [0, 1] by rounding, and the logarithm would not like that.
    lines += ["    abnet_clip(p);", "    abnet_calibrate(p);"]
    return CPart(
        _CLIP + _calibrate(calibration) + _SHARES % {"body": "\n".join(lines)}, 0, 8 * plan.predictor.n_classes, True
    )


_CLIP = """
static void abnet_clip(double *p) {
    int k;
    for (k = 0; k < ABNET_CLASSES; k++) p[k] = p[k] < 0.0 ? 0.0 : p[k];
}
"""


def _calibrate(calibration: Calibration) -> str:
    power, floor = (c_number(value, single=False) for value in (calibration.power, calibration.floor))
    return _CALIBRATE % {"power": power, "floor": floor}
