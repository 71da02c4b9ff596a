"""The network in C: plain loops over neighbouring neurons, from the features of a row to scores."""

import math
from functools import reduce, singledispatch
from operator import add

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_erf import erf_code
from abnet.export.c_leading import leading_code
from abnet.export.c_text import CPart, c_array, c_number, c_reals, defines
from abnet.export.export_plan import (
    ExportPlan,
    FixedPaths,
    MeanLayers,
    MeanSeries,
    SignLayers,
    SignMeans,
    SignTable,
    VoteTable,
)

__all__ = ["network_code"]


@singledispatch
def network_code(network: object, plan: ExportPlan) -> CPart:
    """``static void abnet_scores(const float *f, double *scores)`` for finite features; one function for each kind."""
    raise TypeError(f"no C is written for a {type(network).__name__}.")


# Votes

_CORNERS = """
/* Probabilities of the 2^d corners of a cube whose coordinates are independent with means m. */
static void abnet_corners(const double *m, int d, double *restrict p) {
    int i, j, n = 1;
    p[0] = 1;
    for (i = d - 1; i >= 0; i--, n *= 2)
        for (j = 0; j < n; j++) {
            p[n + j] = (0.5 + 0.5 * m[i]) * p[j];
            p[j] *= 0.5 - 0.5 * m[i];
        }
}
"""

_VOTE = """
static void abnet_scores(const float *f, double *scores) {
    double z[ABNET_UNITS], first[1 << ABNET_FIRST], second[1 << ABNET_SECOND];
    double sums[ABNET_OUTPUTS << ABNET_SECOND];
    const double root = 1.0 / sqrt(2.0 * (abnet_sums(f, z) + 1.0));
    int i, j, k, member, line = 0;
    abnet_erf(z, ABNET_UNITS, root);
    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] = 0.0;
    for (member = 0; member < ABNET_MEMBERS; member++) {
        abnet_corners(z + member * ABNET_WIDTH, ABNET_FIRST, first);
        abnet_corners(z + member * ABNET_WIDTH + ABNET_FIRST, ABNET_SECOND, second);
        for (j = 0; j < ABNET_OUTPUTS << ABNET_SECOND; j++) sums[j] = 0;
        for (i = 0; i < 1 << ABNET_FIRST; i++, line += ABNET_OUTPUTS << ABNET_SECOND)
            for (j = 0; j < ABNET_OUTPUTS << ABNET_SECOND; j++) sums[j] += first[i] * abnet_H[line + j];
        for (j = 0; j < 1 << ABNET_SECOND; j++)
            for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] += second[j] * sums[j * ABNET_OUTPUTS + k];
    }
    for (k = 0; k < ABNET_OUTPUTS; k++) scores[k] /= ABNET_MEMBERS;
}
"""


@network_code.register
def _(network: VoteTable, plan: ExportPlan) -> CPart:
    members, width, n = network.W.shape
    outputs = network.H.shape[2]
    # A corner's probability is a product of two halves, so 2^(d/2) sums do for 2^d corners.
    first = width // 2
    second = width - first
    sizes = defines(MEMBERS=members, WIDTH=width, FIRST=first, SECOND=second, OUTPUTS=outputs)
    leading = leading_code(network.W.reshape(-1, n), network.b.reshape(-1), plan)
    ram = 8 * (2**first + (1 + outputs) * 2**second)
    return sizes + leading + c_reals("abnet_H", network.H) + erf_code() + CPart(_CORNERS + _VOTE, ram=ram)


# Signs

_LAYER = """    for (i = 0; i < %(below)d; i++) s[i] = z[i] >= 0 ? 1 : -1;
    for (u = 0; u < %(units)d; u++) z[u] = abnet_b%(k)d[u];
    for (i = 0; i < %(below)d; i++)
        for (u = 0; u < %(units)d; u++) z[u] += s[i] * abnet_W%(k)d[i * %(units)d + u];"""

_LOOKED_UP = """    for (u = 0; u < %(units)d; u++) place = 2 * place + (z[u] >= 0 ? 1 : 0);
    for (u = 0; u < ABNET_OUTPUTS; u++) scores[u] = u == abnet_class[place];
    if (ABNET_OUTPUTS == 1) scores[0] = 2 * abnet_class[place] - 1;
}
"""


def _classes(codes: NDArray[np.intp], plan: ExportPlan) -> CPart:
    """The class of each representation of the outputs, and the number of scores."""
    if codes.max() < 256:
        array = CPart(c_array("unsigned char", "abnet_class", codes), flash=len(codes))
    else:
        array = CPart(c_array("unsigned short", "abnet_class", codes), flash=2 * len(codes))
    return defines(OUTPUTS=plan.n_outputs) + array


@network_code.register
def _(network: SignTable, plan: ExportPlan) -> CPart:
    lines = [
        "static void abnet_scores(const float *f, double *scores) {",
        "    double z[ABNET_UNITS];",
        "    int u, place = 0;",
        "    abnet_sums(f, z);",
        _LOOKED_UP % {"units": len(network.b)},
    ]
    return leading_code(network.W, network.b, plan) + _classes(network.codes, plan) + CPart("\n".join(lines))


@network_code.register
def _(network: SignLayers, plan: ExportPlan) -> CPart:
    widths = [len(b) for b in network.biases]
    parts = [leading_code(network.weights[0], network.biases[0], plan), _classes(network.codes, plan)]
    lines = [
        "static void abnet_scores(const float *f, double *scores) {",
        f"    double z[{max(widths)}], s[{max(widths)}];",
        "    int i, u, place = 0;",
        "    abnet_sums(f, z);",
    ]
    for k in range(1, len(widths)):
        parts.append(c_reals(f"abnet_W{k + 1}", network.weights[k].T))
        parts.append(c_reals(f"abnet_b{k + 1}", network.biases[k]))
        lines.append(_LAYER % {"below": widths[k - 1], "units": widths[k], "k": k + 1})
    lines.append(_LOOKED_UP % {"units": widths[-1]})
    return reduce(add, parts) + CPart("\n".join(lines), ram=8 * (2 * max(widths) - widths[0]))


# Paths


@network_code.register
def _(network: FixedPaths, plan: ExportPlan) -> CPart:
    members, paths, first = network.noise[0].shape
    widths = [b.shape[1] for b in network.biases]
    block = _block_of_paths(paths)
    blocks = math.ceil(paths / block)
    parts = [
        defines(MEMBERS=members, PATHS=paths, BLOCK=block, BLOCKS=blocks, WIDTH=widths[-1]),
        leading_code(network.weights[0].reshape(members * first, -1), network.biases[0].reshape(-1), plan),
    ]
    for k, noise in enumerate(network.noise, start=1):
        filled = np.pad(noise, ((0, 0), (0, block * blocks - paths), (0, 0)))
        parts.append(c_reals(f"abnet_noise{k}", filled.reshape(members, blocks, block, -1).swapaxes(2, 3)))
        parts.append(c_reals(f"abnet_W{k + 1}", network.weights[k].swapaxes(1, 2)))
        parts.append(c_reals(f"abnet_b{k + 1}", network.biases[k]))
    ram = 8 * block * (1 + sum(widths[1:]))
    if network.codes is None:
        parts.append(defines(OUTPUTS=1))
    else:
        first = widths[-1] // 2
        second = widths[-1] - first
        parts += [_classes(network.codes, plan), defines(FIRST=first, SECOND=second), CPart(_CORNERS)]
        ram += 8 * (len(network.codes) + widths[-1] + block * (2**first + 2**second))
    return reduce(add, parts) + erf_code() + CPart(_path_scores(network, widths), ram=ram)


def _block_of_paths(paths: int) -> int:
    """Paths that are computed side by side, a multiple of four: the size that leaves the fewest places empty."""
    return min(range(12, 25, 4), key=lambda block: math.ceil(paths / block) * block)


_PATHS_OF_A_LAYER = """
            for (u = 0; u < %(units)d; u++)
                for (p = 0; p < ABNET_BLOCK; p++) z%(above)d[u][p] = abnet_b%(above)d[member * %(units)d + u];
            for (i = 0; i < %(below)d; i++) {
                const int e = (place * %(below)d + i) * ABNET_BLOCK, w = (member * %(below)d + i) * %(units)d;
                for (p = 0; p < ABNET_BLOCK; p++) s[p] = %(z)s + abnet_noise%(k)d[e + p] >= 0 ? 1 : -1;
                for (u = 0; u < %(units)d; u++) {
                    const double weight = abnet_W%(above)d[w + u];
                    for (p = 0; p < ABNET_BLOCK; p++) z%(above)d[u][p] += weight * s[p];
                }
            }
            for (u = 0; u < %(units)d; u++)
                for (p = 0; p < ABNET_BLOCK; p++) z%(above)d[u][p] *= %(scale)s;"""

_DECODED = """
            for (u = 0; u < ABNET_WIDTH; u++) abnet_erf(%(last)s[u], ABNET_BLOCK, 1.0);
            for (p = 0; p < ABNET_BLOCK; p++) {
                for (u = 0; u < ABNET_WIDTH; u++) m[u] = %(last)s[u][p];
                abnet_corners(m, ABNET_FIRST, low[p]);
                abnet_corners(m + ABNET_FIRST, ABNET_SECOND, high[p]);
            }
            for (i = 0; i < 1 << ABNET_FIRST; i++)
                for (p = 0; p < ABNET_BLOCK && block * ABNET_BLOCK + p < ABNET_PATHS; p++) {
                    const double share = low[p][i];
                    for (u = 0; u < 1 << ABNET_SECOND; u++) joint[i][u] += share * high[p][u];
                }"""


def _path_scores(network: FixedPaths, widths: list[int]) -> str:
    """A loop over members and blocks of paths: signs layer by layer, the last layer's means, and their classes."""
    several = network.codes is not None
    depth = len(widths)
    lines = [
        "/* Each layer for a block of paths side by side: neuron u on path p is z[u][p]. */",
        "static void abnet_scores(const float *f, double *scores) {",
        "    double z1[ABNET_UNITS], s[ABNET_BLOCK];",
        *(f"    double z{k + 1}[{widths[k]}][ABNET_BLOCK];" for k in range(1, depth)),
    ]
    if several:
        lines += [
            "    double low[ABNET_BLOCK][1 << ABNET_FIRST], high[ABNET_BLOCK][1 << ABNET_SECOND];",
            "    double m[ABNET_WIDTH];",
            "    double joint[1 << ABNET_FIRST][1 << ABNET_SECOND] = {{0}};",
        ]
    lines += [
        "    const double root = 1.0 / sqrt(abnet_sums(f, z1) + 1.0);",
        "    int member, block, i, p, u;",
        "    for (i = 0; i < ABNET_UNITS; i++) z1[i] = (z1[i] * root);",
        "    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] = 0.0;",
        "    for (member = 0; member < ABNET_MEMBERS; member++)",
        "        for (block = 0; block < ABNET_BLOCKS; block++) {",
        "            const int place = member * ABNET_BLOCKS + block;",
    ]
    lines += [_paths_of_a_layer(k, widths) for k in range(1, depth)]
    if several:
        lines += [
            (_DECODED % {"last": f"z{depth}"}).lstrip("\n"),
            "        }",
            "    for (i = 0; i < 1 << ABNET_FIRST; i++)",
            "        for (u = 0; u < 1 << ABNET_SECOND; u++)",
            "            scores[abnet_class[(i << ABNET_SECOND) + u]] += joint[i][u];",
        ]
    else:
        is_path = "p < ABNET_BLOCK && block * ABNET_BLOCK + p < ABNET_PATHS"
        lines += [
            f"            abnet_erf(z{depth}[0], ABNET_BLOCK, 1.0);",
            f"            for (p = 0; {is_path}; p++) scores[0] += z{depth}[0][p];",
            "        }",
        ]
    lines += [
        "    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] /= (double)ABNET_MEMBERS * ABNET_PATHS;",
        "}\n",
    ]
    return "\n".join(lines)


def _paths_of_a_layer(k: int, widths: list[int]) -> str:
    """Sums of the layer above layer k, from the signs of layer k on each path."""
    below = widths[k - 1]
    scale = (below + 1) ** -0.5
    if k == len(widths) - 1:
        # The means of the last layer are erf(z / sqrt(2)).
        scale *= 0.5**0.5
    z = f"z{k}[i][p]"
    if k == 1:
        z = f"z1[member * {below} + i]"
    values = {
        "below": below,
        "units": widths[k],
        "k": k,
        "above": k + 1,
        "z": z,
        "scale": c_number(scale, single=False),
    }
    return (_PATHS_OF_A_LAYER % values).lstrip("\n")


# Means above independent signs

_TABLE_MEANS = """
        abnet_corners(%(m)s, %(first)d, low);
        abnet_corners(%(m)s + %(first)d, %(second)d, high);
        for (u = 0; u < %(units)d; u++) v%(k)d[u] = 0.0;
        for (i = 0; i < %(n_low)d; i++)
            for (j = 0; j < %(n_high)d; j++) {
                const double p = low[i] * high[j];
                const int at = ((member * %(n_low)d + i) * %(n_high)d + j) * %(units)d;
                for (u = 0; u < %(units)d; u++) v%(k)d[u] += p * abnet_means%(k)d[at + u];
            }"""

_SERIES_MEANS = """
        for (u = 0; u < %(units)d; u++) {
            const int at = member * %(units)d + u;
            double mean = abnet_c%(k)d[at], total = 0.0;
            for (i = 0; i < %(d)d; i++) mean += abnet_v%(k)d[at * %(d)d + i] * (%(m)s)[i];
            for (j = 0; j < %(terms)d; j++) {
                re[j] = 1.0;
                im[j] = 0.0;
            }
            for (i = 0; i < %(d)d; i++) {
                const double m = (%(m)s)[i];
                const int t = (at * %(d)d + i) * %(terms)d;
                for (j = 0; j < %(terms)d; j++) {
                    const double c = abnet_cos%(k)d[t + j], s = m * abnet_sin%(k)d[t + j], x = re[j] * c - im[j] * s;
                    im[j] = re[j] * s + im[j] * c;
                    re[j] = x;
                }
            }
            for (j = 0; j < %(terms)d; j++)
                total += abnet_P%(k)d[at * %(terms)d + j] * im[j] + abnet_Q%(k)d[at * %(terms)d + j] * re[j];
            if (total > 1.0) total = 1.0;
            if (total < -1.0) total = -1.0;
            if (mean >= abnet_limit%(k)d[at]) total = 1.0;
            if (-mean >= abnet_limit%(k)d[at]) total = -1.0;
            v%(k)d[u] = total;
        }"""


@network_code.register
def _(network: SignMeans, plan: ExportPlan) -> CPart:
    """Each layer's means from those of the layer below: by a table of corners, or by the series of each neuron."""
    members, width, n = network.W.shape
    parts = [
        defines(MEMBERS=members, OUTPUTS=1),
        leading_code(network.W.reshape(-1, n), network.b.reshape(-1), plan),
    ]
    locals_ = ["double z[ABNET_UNITS]"]
    loops = []
    n_terms = 0
    n_corners = [0, 0]
    ram = 0
    below = f"z + member * {width}"
    for k, layer in enumerate(network.above, start=2):
        if isinstance(layer, MeanSeries):
            units, d, terms = layer.cosines.shape[1:]
            for name, values in zip("cvPQ", (layer.c, layer.v, layer.P, layer.Q), strict=True):
                parts.append(c_reals(f"abnet_{name}{k}", values))
            parts.append(c_reals(f"abnet_limit{k}", layer.limits))
            parts.append(c_reals(f"abnet_cos{k}", layer.cosines))
            parts.append(c_reals(f"abnet_sin{k}", layer.sines))
            loops.append(_SERIES_MEANS % {"m": below, "units": units, "k": k, "d": d, "terms": terms})
            n_terms = max(n_terms, terms)
        else:
            units = layer.shape[2]
            first = width // 2
            second = width - first
            parts.append(c_reals(f"abnet_means{k}", layer))
            sizes = {"first": first, "second": second, "n_low": 2**first, "n_high": 2**second}
            loops.append(_TABLE_MEANS % {"m": below, "units": units, "k": k, **sizes})
            n_corners = [max(n_corners[0], 2**first), max(n_corners[1], 2**second)]
        locals_.append(f"v{k}[{units}]")
        ram += 8 * units
        below = f"v{k}"
        width = units
    if n_terms:
        locals_ += [f"re[{n_terms}]", f"im[{n_terms}]"]
        ram += 8 * 2 * n_terms
    if n_corners[1]:
        parts.append(CPart(_CORNERS))
        locals_ += [f"low[{n_corners[0]}]", f"high[{n_corners[1]}]"]
        ram += 8 * sum(n_corners)
    lines = [
        "/* Each neuron's mean output, over the independent signs that it reads. */",
        "static void abnet_scores(const float *f, double *scores) {",
        f"    {', '.join(locals_)};",
        "    const double root = 1.0 / sqrt(2.0 * (abnet_sums(f, z) + 1.0));",
        "    int i, j, u, member;",
        "    scores[0] = 0.0;",
        "    abnet_erf(z, ABNET_UNITS, root);",
        "    for (member = 0; member < ABNET_MEMBERS; member++) {",
        *(loop.lstrip("\n") for loop in loops),
        f"        scores[0] += {below}[0];",
        "    }",
        "    scores[0] /= ABNET_MEMBERS;",
        "}\n",
    ]
    return reduce(add, parts) + erf_code() + CPart("\n".join(lines), ram=ram)


# Means and variances

_MEANS_OF_A_LAYER = """
        for (u = 0; u < %(units)d; u++) {
            sum[u] = abnet_b%(k)d[member * %(units)d + u];
            variance[u] = %(least)s;
        }
        for (i = 0; i < %(below)d; i += %(step)d) {
            %(means)s
            for (u = 0; u < %(units)d; u++) {
                %(weights)s
                sum[u] += %(sum)s;
                variance[u] += %(variance)s;
            }
        }
        for (u = 0; u < %(units)d; u++) v[u] = sum[u] / sqrt(2.0 * variance[u]);
        abnet_erf(v, %(units)d, 1.0);"""


def _means_of_a_layer(k: int, units: int, below: int, least: str) -> str:
    """The means of layer k of a member; those of the layer below are taken up to four at a time."""
    step = math.gcd(below, 4)
    v = "v[i"
    if k == 2:
        v = f"z[member * {below} + i"
    means = [f"const double v{j} = {v} + {j}], left{j} = 1.0 - v{j} * v{j};" for j in range(step)]
    weights = [f"const double w{j} = abnet_W{k}[(member * {below} + i + {j}) * {units} + u];" for j in range(step)]
    values = {
        "k": k,
        "units": units,
        "below": below,
        "step": step,
        "least": least,
        "means": "\n            ".join(means),
        "weights": "\n                ".join(weights),
        "sum": " + ".join(f"w{j} * v{j}" for j in range(step)),
        "variance": " + ".join(f"w{j} * w{j} * left{j}" for j in range(step)),
    }
    return (_MEANS_OF_A_LAYER % values).lstrip("\n")


_SHARED = """    for (i = 0; i < 1 << ABNET_FIRST; i++) {
        double p[1 << ABNET_SECOND] = {0.0};
        for (member = 0; member < ABNET_MEMBERS; member++)
            for (u = 0; u < 1 << ABNET_SECOND; u++) p[u] += first[member][i] * second[member][u];
        for (u = 0; u < 1 << ABNET_SECOND; u++) part[u & 3][abnet_class[(i << ABNET_SECOND) + u]] += p[u];
    }
    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] = part[0][i] + part[1][i] + part[2][i] + part[3][i];"""


@network_code.register
def _(network: MeanLayers, plan: ExportPlan) -> CPart:
    """Each output corner's probability is a product of two halves, added up over the members and decoded once."""
    members, _, n = network.weights[0].shape
    widths = [b.shape[1] for b in network.biases]
    widest = max(widths[1:])
    first = widths[-1] // 2
    second = widths[-1] - first
    sizes = defines(MEMBERS=members, OUTPUTS=1)
    if network.codes is not None:
        sizes = defines(MEMBERS=members, FIRST=first, SECOND=second)
    parts = [sizes, leading_code(network.weights[0].reshape(-1, n), network.biases[0].reshape(-1), plan)]
    layers = []
    for k, (W, b) in enumerate(zip(network.weights[1:], network.biases[1:], strict=True), start=2):
        parts.append(c_reals(f"abnet_W{k}", W.swapaxes(1, 2)))
        parts.append(c_reals(f"abnet_b{k}", b))
        least = c_number(W.shape[2] + 1 + network.e, single=False)
        layers.append(_means_of_a_layer(k, W.shape[1], W.shape[2], least))
    ram = 8 * 3 * widest
    if network.codes is not None:
        parts += [_classes(network.codes, plan), CPart(_CORNERS)]
        ram += 8 * (members * 2**first + (members + 1) * 2**second + 4 * plan.n_outputs)
    scores = _mean_scores(layers, widest, several=network.codes is not None)
    return reduce(add, parts) + erf_code() + CPart(scores, ram=ram)


def _mean_scores(layers: list[str], widest: int, *, several: bool) -> str:
    """``abnet_scores`` around the code of the layers above the first."""
    lines = [
        "/* Each unit's mean output, by the mean and the variance of its sum. */",
        "static void abnet_scores(const float *f, double *scores) {",
        f"    double z[ABNET_UNITS], v[{widest}], sum[{widest}], variance[{widest}];",
    ]
    if several:
        lines += [
            "    double first[ABNET_MEMBERS][1 << ABNET_FIRST], second[ABNET_MEMBERS][1 << ABNET_SECOND];",
            # Four sums of each class: one alone would wait for the corner before.
            "    double part[4][ABNET_OUTPUTS] = {{0.0}};",
        ]
    lines += [
        "    const double root = 1.0 / sqrt(2.0 * (abnet_sums(f, z) + 1.0));",
        "    int i, u, member;",
        "    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] = 0.0;",
        "    abnet_erf(z, ABNET_UNITS, root);",
        "    for (member = 0; member < ABNET_MEMBERS; member++) {",
        *layers,
    ]
    if several:
        lines += [
            "        abnet_corners(v, ABNET_FIRST, first[member]);",
            "        abnet_corners(v + ABNET_FIRST, ABNET_SECOND, second[member]);",
            "    }",
            _SHARED,
        ]
    else:
        lines += ["        scores[0] += v[0];", "    }"]
    lines += ["    for (i = 0; i < ABNET_OUTPUTS; i++) scores[i] /= ABNET_MEMBERS;", "}\n"]
    return "\n".join(lines)
