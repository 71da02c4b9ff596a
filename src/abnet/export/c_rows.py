"""Many rows at a time in C: side by side in single precision, and one by one where that leaves a label open.

All arrays have a place for each of `ABNET_ROWS` rows in their innermost dimension, so that every inner loop is the same
operation on neighbours: what compilers turn into vector instructions, whatever the sizes of the model.
"""

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_network import BLOCK
from abnet.export.c_text import CPart, c_array, c_number
from abnet.export.plan import BitTable, CodeTable, ExportPlan, VoteTable
from abnet.predictors.compact import UNIT, gamma, single_precision_error

__all__ = ["ERF_COEFFICIENTS", "ERF_END", "ERF_ERROR", "row_slack", "rows_code"]

ERF_END = 3.8
"""Beyond it, ``erf`` is taken for its value there."""
ERF_COEFFICIENTS = (
    0.372107758, -0.185641385, 0.137726183, -0.111179676, 0.0910431003, -0.0725686074, 0.0538119127, -0.0387373163,
    0.0301985652, -0.0187042394, 0.00488228358, -0.00297570518, 0.00599856037, -0.00280368395,
)  # fmt: skip
"""``erf(x)/x`` as a polynomial of ``2 x²/ERF_END² - 1``, by least squares at Chebyshev's points."""
ERF_ERROR = 1e-5
"""A bound on its error in float32: 5e-7 of the polynomial, and 28 roundings of at most ``ERF_END Σ|c_k| = 4.3``."""

ROWS = 32
"""Rows side by side: long enough a loop for compilers to make vectors of, short enough for the first cache."""
MOST_BYTES = 2**18
"""Prepared rows on the stack, at the most; wider tables have fewer rows side by side."""
MOST_SUMS = 2**12
"""Sums over half a table, for each row, at the most; wider networks are computed row by row."""
FEWEST = 8
TILE, SPAN = 32, 128
"""Networks of `TILE` units or more: units computed at a time, whose sums stay in registers, and features whose weights
for them stay in the first cache."""

_PROTOTYPE = """
/* The numbers of the classes of n rows, as abnet_predict gives them, but faster: rows are computed side by side.
   -DABNET_ROWS=... changes how many; 0 leaves this function out. Compiled with OpenMP (-fopenmp) it uses all cores. */
#ifndef ABNET_ROWS
#define ABNET_ROWS %(rows)d
#endif
#if ABNET_ROWS > 0
void abnet_predict_rows(%(argument)srows, size_t n, int *codes);
#endif
"""


def row_slack(plan: ExportPlan) -> NDArray[np.float64] | None:
    """What single precision may change of a row: of a score, or of each unit's sum relative to the norm of (x, 1).

    Sums are taken over blocks of features first, so that a number is rounded once for each of its block and once for
    each block, and not once for each feature. None where rows are not computed side by side.
    """
    network, terms = plan.network, _terms(plan)
    if isinstance(network, VoteTable):
        width, outputs = network.b.shape[1], network.H.shape[2]
        members = [single_precision_error(W, b, terms=terms) for W, b in zip(network.W, network.b, strict=True)]
        slack = float(np.mean(members)) + width * ERF_ERROR + len(members) * UNIT
        return np.array([slack]) if slack < 0.25 and outputs << (width - width // 2) <= MOST_SUMS else None
    if isinstance(network, BitTable | CodeTable):
        return 2 * gamma(terms + 8) * np.hypot(np.linalg.norm(network.W, axis=1), network.b)
    return None


def _wide(plan: ExportPlan) -> bool:
    return isinstance(plan.network, VoteTable) and plan.network.b.size >= TILE


def _terms(plan: ExportPlan) -> int:
    """How often a product is added to others, at the most."""
    if not _wide(plan):
        return BLOCK + -(-plan.n_features // BLOCK)
    # Two sums of every other feature of a span, added to each other and to what was there; up to three features behind.
    return SPAN // 2 + 1 + -(-plan.n_features // SPAN) + 3


def rows_code(plan: ExportPlan, real: str, argument: str, prepared: bool) -> tuple[str, CPart]:
    """The declaration of `abnet_predict_rows`, and its code.

    Parameters
    ----------
    argument : str
        The type of the rows, as in ``const float *``.
    prepared : bool
        Whether there is a function that makes features of a row.
    """
    slack = row_slack(plan)
    step = "" if plan.names is not None else " * ABNET_COLUMNS"
    parts = {"argument": argument, "step": step, "more": ", NULL" * plan.predictor.shares, "real": real}
    if slack is None:
        return _PROTOTYPE % {"rows": 1, "argument": argument}, CPart(_ONE_BY_ONE % parts)
    rows = ROWS if 4 * ROWS * plan.n_features * prepared <= MOST_BYTES else FEWEST
    network, constants, flash = plan.network, "", 0
    if isinstance(network, VoteTable):
        outputs, first = network.H.shape[2], network.b.shape[1] // 2
        numbers = network.b.size + outputs + 8 + 2**first + 2 ** (network.b.shape[1] - first)
        limit = {"slack": c_number(float(slack[0]) * (1 if outputs == 1 else 2), single=False)}
        decide = (_TWO if outputs == 1 else _SEVERAL) % limit
        many = _ERF % _erf_parts() + _VOTES % {"real": real, "decide": decide, "counter": "" if outputs == 1 else "k, "}
    else:
        found = _BIT if isinstance(network, BitTable) else "abnet_class[place]"
        numbers, many, flash = len(slack), _BITS % {"found": found}, 4 * len(slack)
        constants = c_array("float", "abnet_slack", 1.001 * slack)
    loop = ((_PREPARED if prepared else _PLAIN) + _BLOCKS) % parts
    sums, taken = _wide_sums(plan, parts, rows) if _wide(plan) else (_SUMS % parts, 4 * rows * (BLOCK + 9) + BLOCK)
    code = "\n".join(["#if ABNET_ROWS > 0", constants, sums, many, loop, "#endif", ""])
    ram = taken + 4 * rows * (numbers + 5 + plan.n_features * prepared)
    return _PROTOTYPE % {"rows": rows, "argument": argument}, CPart(code, flash, ram)


def _wide_sums(plan: ExportPlan, parts: dict[str, str], rows: int) -> tuple[str, int]:
    """`abnet_many_sums` of a network of many units, and the bytes of its arrays."""
    assert isinstance(plan.network, VoteTable)
    units, spans, left = plan.network.b.size, -(-plan.n_features // SPAN), plan.n_features % 4
    sizes = {"TILE": TILE, "SPAN": SPAN, "SPANS": spans, "GROUPED": plan.n_features - left}
    defines = "\n".join(f"#define ABNET_{name} {value}" for name, value in sizes.items())
    behind = _BEHIND % parts if left else ""
    ram = 4 * rows * units + rows * spans * (SPAN // 4 + 1) + 4 * (2 * TILE + SPAN // 4)
    return f"{defines}\n{_WIDE_SUMS % {**parts, 'behind': behind}}", ram


def _erf_parts() -> dict[str, str]:
    values = [c_number(value, single=True) for value in ERF_COEFFICIENTS]
    steps = "\n".join(f"    v = v * u + {value};" for value in values[-2::-1])
    return {
        "end": c_number(ERF_END, single=True), "scale": c_number(2 / ERF_END**2, single=True), "top": values[-1],
        "steps": steps,
    }  # fmt: skip


_SUMS = """
/* z[u][r] += sum over k of w[places[k]][u] x[k][r], for eight units at a time, whose sums stay in registers. */
static void abnet_product(const float *x, const unsigned char *places, int n, const %(real)s *w, int units, float *z) {
    float a[8][ABNET_ROWS];
    int v, k, r, left;
    for (left = units; left >= 8; left -= 8, w += 8, z += 8 * ABNET_ROWS) {
        for (v = 0; v < 8; v++)
            for (r = 0; r < ABNET_ROWS; r++) a[v][r] = 0.0f;
        for (k = 0; k < n; k++) {
            const %(real)s *line = w + (size_t)places[k] * (size_t)units;
            for (v = 0; v < 8; v++)
                for (r = 0; r < ABNET_ROWS; r++) a[v][r] += (float)line[v] * x[k * ABNET_ROWS + r];
        }
        for (v = 0; v < 8; v++)
            for (r = 0; r < ABNET_ROWS; r++) z[v * ABNET_ROWS + r] += a[v][r];
    }
    for (v = 0; v < left; v++)
        for (r = 0; r < ABNET_ROWS; r++) a[v][r] = 0.0f;
    for (k = 0; k < n; k++) {
        const %(real)s *line = w + (size_t)places[k] * (size_t)units;
        for (v = 0; v < left; v++)
            for (r = 0; r < ABNET_ROWS; r++) a[v][r] += (float)line[v] * x[k * ABNET_ROWS + r];
    }
    for (v = 0; v < left; v++)
        for (r = 0; r < ABNET_ROWS; r++) z[v * ABNET_ROWS + r] += a[v][r];
}

/* w_u f + b_u of every unit, and 1 + the squared norm of f; features that are zero in all rows are passed over. */
static void abnet_many_sums(const float *const *f, float *z, float *norm) {
    float x[ABNET_BLOCK * ABNET_ROWS], squares[ABNET_ROWS];
    unsigned char places[ABNET_BLOCK];
    int start, i, r, u, n, count, some;
    for (u = 0; u < ABNET_UNITS; u++)
        for (r = 0; r < ABNET_ROWS; r++) z[u * ABNET_ROWS + r] = (float)abnet_b[u];
    for (r = 0; r < ABNET_ROWS; r++) norm[r] = 1.0f;
    for (start = 0; start < ABNET_FEATURES; start += ABNET_BLOCK) {
        n = ABNET_FEATURES - start < ABNET_BLOCK ? ABNET_FEATURES - start : ABNET_BLOCK;
        for (r = 0; r < ABNET_ROWS; r++)
            for (i = 0; i < n; i++) x[i * ABNET_ROWS + r] = f[r][start + i];
        for (r = 0; r < ABNET_ROWS; r++) squares[r] = 0.0f;
        for (i = 0, count = 0; i < n; i++) {
            const float *from = x + i * ABNET_ROWS;
            float *to = x + count * ABNET_ROWS;
            for (r = 0, some = 0; r < ABNET_ROWS; r++) some |= from[r] != 0.0f;
            if (!some) continue;
            for (r = 0; r < ABNET_ROWS; r++) squares[r] += from[r] * from[r];
            for (r = 0; r < ABNET_ROWS; r++) to[r] = from[r];
            places[count++] = (unsigned char)i;
        }
        for (r = 0; r < ABNET_ROWS; r++) norm[r] += squares[r];
        abnet_product(x, places, count, abnet_W + (size_t)start * ABNET_UNITS, ABNET_UNITS, z);
    }
}
"""

_WIDE_SUMS = """
/* z[u] += sum over the groups of four features at `places` of w[i][u] x[i], for the units from `from` to 32; all 32 are
   computed, by two sums in turn. */
static void abnet_tile(
    const float *x, const unsigned char *places, int n, const %(real)s *w, int from, float *z) {
    float a[ABNET_TILE], b[ABNET_TILE];
    int k, v;
    for (v = 0; v < ABNET_TILE; v++) a[v] = 0.0f;
    for (v = 0; v < ABNET_TILE; v++) b[v] = 0.0f;
    for (k = 0; k < n; k++) {
        const float *y = x + 4 * places[k];
        const %(real)s *line = w + (size_t)places[k] * 4 * ABNET_UNITS;
        for (v = 0; v < ABNET_TILE; v++) a[v] += y[0] * (float)line[v];
        for (v = 0; v < ABNET_TILE; v++) b[v] += y[1] * (float)line[ABNET_UNITS + v];
        for (v = 0; v < ABNET_TILE; v++) a[v] += y[2] * (float)line[2 * ABNET_UNITS + v];
        for (v = 0; v < ABNET_TILE; v++) b[v] += y[3] * (float)line[3 * ABNET_UNITS + v];
    }
    for (v = from; v < ABNET_TILE; v++) z[v] += a[v] + b[v];
}

/* The groups of four features of a row that are not all zero, span by span; 1 + the squared norm of the features. A
   feature whose square is zero is below 1e-22, and missed by no sum. */
static float abnet_groups(const float *x, unsigned char *places, unsigned char *counts) {
    float squares[ABNET_SPAN / 4], norm = 1.0f, sum;
    int start, g, n, count;
    for (start = 0; start < ABNET_GROUPED; start += ABNET_SPAN, x += ABNET_SPAN, places += ABNET_SPAN / 4) {
        n = (ABNET_GROUPED - start < ABNET_SPAN ? ABNET_GROUPED - start : ABNET_SPAN) / 4;
        for (g = 0; g < n; g++)
            squares[g] = (x[4 * g] * x[4 * g] + x[4 * g + 1] * x[4 * g + 1])
                + (x[4 * g + 2] * x[4 * g + 2] + x[4 * g + 3] * x[4 * g + 3]);
        for (g = 0, count = 0, sum = 0.0f; g < n; g++) {
            places[count] = (unsigned char)g;
            count += squares[g] != 0.0f;
            sum += squares[g];
        }
        *counts++ = (unsigned char)count;
        norm += sum;
    }
    return norm;
}

/* w_u f + b_u of every unit, and 1 + the squared norm of f. Each row is read once from its beginning to its end, and is
   near when its sums are taken. */
static void abnet_many_sums(const float *const *f, float *z, float *norm) {
    float sums[ABNET_ROWS * ABNET_UNITS];
    unsigned char places[ABNET_ROWS][ABNET_SPANS * (ABNET_SPAN / 4)], counts[ABNET_ROWS][ABNET_SPANS];
    int start, span, r, u, from;
    for (r = 0; r < ABNET_ROWS; r++) norm[r] = abnet_groups(f[r], places[r], counts[r]);
    for (r = 0; r < ABNET_ROWS; r++)
        for (u = 0; u < ABNET_UNITS; u++) sums[r * ABNET_UNITS + u] = (float)abnet_b[u];
    for (start = 0, span = 0; start < ABNET_GROUPED; start += ABNET_SPAN, span++)
        for (u = 0; u < ABNET_UNITS; u += ABNET_TILE) {
            /* The last tile goes back to where it fits, and leaves out the units that it shares with the one before. */
            from = u + ABNET_TILE <= ABNET_UNITS ? 0 : u + ABNET_TILE - ABNET_UNITS;
            for (r = 0; r < ABNET_ROWS; r++)
                abnet_tile(
                    f[r] + start, places[r] + span * (ABNET_SPAN / 4), counts[r][span],
                    abnet_W + (size_t)start * ABNET_UNITS + (size_t)(u - from), from,
                    sums + r * ABNET_UNITS + (u - from));
        }
%(behind)s    for (u = 0; u < ABNET_UNITS; u++)
        for (r = 0; r < ABNET_ROWS; r++) z[u * ABNET_ROWS + r] = sums[r * ABNET_UNITS + u];
}
"""

_BEHIND = """    for (start = ABNET_GROUPED; start < ABNET_FEATURES; start++)
        for (r = 0; r < ABNET_ROWS; r++) {
            const float x = f[r][start];
            norm[r] += x * x;
            for (u = 0; u < ABNET_UNITS; u++)
                sums[r * ABNET_UNITS + u] += x * (float)abnet_W[(size_t)start * ABNET_UNITS + (size_t)u];
        }
"""

_ERF = """
/* The error function within 1e-5, without a branch. */
static float abnet_erf(float x) {
    const float a = x < -%(end)s ? -%(end)s : x > %(end)s ? %(end)s : x;
    const float u = a * a * %(scale)s - 1.0f;
    float v = %(top)s;
%(steps)s
    return a * v;
}
"""

_VOTES = """
static void abnet_many_corners(const float *m, int d, float *p) {
    int i, j, r, n = 1;
    for (r = 0; r < ABNET_ROWS; r++) p[r] = 1.0f;
    for (i = d - 1; i >= 0; i--, n *= 2)
        for (j = 0; j < n; j++)
            for (r = 0; r < ABNET_ROWS; r++) {
                const float low = p[j * ABNET_ROWS + r], half = 0.5f * m[i * ABNET_ROWS + r];
                p[(n + j) * ABNET_ROWS + r] = (0.5f + half) * low;
                p[j * ABNET_ROWS + r] = (0.5f - half) * low;
            }
}

/* scores[k][r] += sum over the corners of their probability times h[corner][k], for one member; eight columns of the
   product with half of the cube at a time, whose sums stay in registers. */
static void abnet_many_votes(const %(real)s *h, const float *first, const float *second, float *scores) {
    float a[8][ABNET_ROWS];
    int c, i, v, r, n;
    for (c = 0; c < ABNET_OUTPUTS << ABNET_SECOND; c += n) {
        n = (ABNET_OUTPUTS << ABNET_SECOND) - c < 8 ? 1 : 8;
        if (n == 8) {
            for (v = 0; v < 8; v++)
                for (r = 0; r < ABNET_ROWS; r++) a[v][r] = (float)h[c + v] * first[r];
            for (i = 1; i < 1 << ABNET_FIRST; i++) {
                const %(real)s *line = h + (size_t)i * (ABNET_OUTPUTS << ABNET_SECOND) + c;
                for (v = 0; v < 8; v++)
                    for (r = 0; r < ABNET_ROWS; r++) a[v][r] += (float)line[v] * first[i * ABNET_ROWS + r];
            }
        } else {
            for (r = 0; r < ABNET_ROWS; r++) a[0][r] = (float)h[c] * first[r];
            for (i = 1; i < 1 << ABNET_FIRST; i++) {
                const float value = (float)h[(size_t)i * (ABNET_OUTPUTS << ABNET_SECOND) + (size_t)c];
                for (r = 0; r < ABNET_ROWS; r++) a[0][r] += value * first[i * ABNET_ROWS + r];
            }
        }
        for (v = 0; v < n; v++) {
            const float *p = second + (c + v) / ABNET_OUTPUTS * ABNET_ROWS;
            float *to = scores + (c + v) %% ABNET_OUTPUTS * ABNET_ROWS;
            for (r = 0; r < ABNET_ROWS; r++) to[r] += p[r] * a[v][r];
        }
    }
}

/* The classes of rows; -1 where single precision is not sure of one. */
static void abnet_many(const float *const *f, int *codes) {
    float z[ABNET_UNITS * ABNET_ROWS], norm[ABNET_ROWS], scores[ABNET_OUTPUTS * ABNET_ROWS];
    float first[(1 << ABNET_FIRST) * ABNET_ROWS], second[(1 << ABNET_SECOND) * ABNET_ROWS];
    const %(real)s *h = abnet_H;
    int i, %(counter)sr, member;
    abnet_many_sums(f, z, norm);
    for (r = 0; r < ABNET_ROWS; r++)
        norm[r] = norm[r] <= FLT_MAX ? (float)(1.0 / sqrt(2.0 * (double)norm[r])) : HUGE_VALF;
    for (i = 0; i < ABNET_UNITS; i++)
        for (r = 0; r < ABNET_ROWS; r++) z[i * ABNET_ROWS + r] = abnet_erf(z[i * ABNET_ROWS + r] * norm[r]);
    for (i = 0; i < ABNET_OUTPUTS * ABNET_ROWS; i++) scores[i] = 0.0f;
    for (member = 0; member < ABNET_MEMBERS; member++, h += (ABNET_OUTPUTS << ABNET_SECOND) << ABNET_FIRST) {
        const float *m = z + member * ABNET_WIDTH * ABNET_ROWS;
        abnet_many_corners(m, ABNET_FIRST, first);
        abnet_many_corners(m + ABNET_FIRST * ABNET_ROWS, ABNET_SECOND, second);
        abnet_many_votes(h, first, second, scores);
    }
    for (r = 0; r < ABNET_ROWS; r++) {
%(decide)s
    }
}
"""

_TWO = """        const double score = (double)scores[r] / ABNET_MEMBERS;
        codes[r] = norm[r] > FLT_MAX ? -1 : score > %(slack)s ? 1 : score < -%(slack)s ? 0 : -1;"""

_SEVERAL = """        float best = scores[r], next = -1.0f;
        codes[r] = 0;
        for (k = 1; k < ABNET_OUTPUTS; k++) {
            const float score = scores[k * ABNET_ROWS + r];
            next = score > best ? best : score > next ? score : next;
            codes[r] = score > best ? k : codes[r];
            best = score > best ? score : best;
        }
        if (!(((double)best - (double)next) / ABNET_MEMBERS > %(slack)s) || norm[r] > FLT_MAX) codes[r] = -1;"""

_BITS = """
/* The classes of rows; -1 where single precision is not sure of one. */
static void abnet_many(const float *const *f, int *codes) {
    float z[ABNET_UNITS * ABNET_ROWS], norm[ABNET_ROWS];
    int r, u;
    abnet_many_sums(f, z, norm);
    for (r = 0; r < ABNET_ROWS; r++) {
        unsigned long place = 0;
        int sure = norm[r] <= FLT_MAX;
        for (u = 0; u < ABNET_UNITS; u++) {
            const float sum = z[u * ABNET_ROWS + r];
            sure &= sum * sum > abnet_slack[u] * abnet_slack[u] * norm[r];
            place = 2 * place + (sum >= 0.0f ? 1 : 0);
        }
        codes[r] = !sure ? -1 : %(found)s;
    }
}
"""
_BIT = "abnet_bits[place >> 3] >> (7 - (place & 7)) & 1"

_PLAIN = """
static void abnet_block(%(argument)srows, int count, int *codes) {
    const float *f[ABNET_ROWS];
    int found[ABNET_ROWS], r;
    for (r = 0; r < ABNET_ROWS; r++) f[r] = rows + (size_t)(r < count ? r : 0)%(step)s;
    abnet_many(f, found);
    for (r = 0; r < count; r++)
        codes[r] = found[r] >= 0 ? found[r] : abnet_predict(rows + (size_t)r%(step)s%(more)s);
}
"""

_PREPARED = """
static void abnet_block(%(argument)srows, int count, int *codes) {
    float features[ABNET_ROWS][ABNET_FEATURES];
    const float *f[ABNET_ROWS];
    int found[ABNET_ROWS], refused[ABNET_ROWS], i, r;
    for (r = 0; r < ABNET_ROWS; r++) {
        f[r] = features[r];
        refused[r] = r >= count || abnet_prepare(rows + (size_t)r%(step)s, features[r]);
        for (i = 0; i < ABNET_FEATURES && refused[r]; i++) features[r][i] = 0.0f;
    }
    abnet_many(f, found);
    for (r = 0; r < count; r++)
        codes[r] = refused[r] ? -1 : found[r] >= 0 ? found[r] : abnet_predict(rows + (size_t)r%(step)s%(more)s);
}
"""

_BLOCKS = """
void abnet_predict_rows(%(argument)srows, size_t n, int *codes) {
    const size_t blocks = n / ABNET_ROWS + (n %% ABNET_ROWS > 0);
    size_t i;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (i = 0; i < blocks; i++) {
        const size_t start = i * ABNET_ROWS, left = n - start;
        abnet_block(rows + start%(step)s, left < ABNET_ROWS ? (int)left : ABNET_ROWS, codes + start);
    }
}
"""

_ONE_BY_ONE = """
#if ABNET_ROWS > 0
void abnet_predict_rows(%(argument)srows, size_t n, int *codes) {
    size_t i;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (i = 0; i < n; i++) codes[i] = abnet_predict(rows + i%(step)s%(more)s);
}
#endif
"""
