"""Many rows at a time in C: side by side in single precision, and one by one where that leaves a label open.

All arrays have a place for each of `ABNET_ROWS` rows in their innermost dimension, so that every inner loop is the same
operation on neighbours: what compilers turn into vector instructions, whatever the sizes of the model.
"""

from math import gcd

import numpy as np
from numpy.typing import NDArray

from abnet.export.c_text import CPart, c_array, c_number
from abnet.export.plan import BitTable, CodeTable, ExportPlan, VoteTable
from abnet.predictors.compact import gamma, single_precision_error

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
WORD = 64
"""Features looked at at a time: those that are not zero are the bits of a word, and the weights of all for a tile stay
in the first cache."""
LANES = (1, 4, 8, 16)
"""Numbers that an instruction computes with: without vectors, and with those of SSE and NEON, of AVX, of AVX-512."""

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
    """What single precision may change of a row: of F, or of each unit's sum relative to the norm of (x, 1).

    Sums are taken over words of features first, so that a number is rounded once for every other of its word and once
    for each word, and not once for each feature. Of several classes, it bounds the change of the difference of two
    shares: multilinear with values in [-1, 1] as F is, and evaluated by sums whose terms add up to 1 at the most. None
    where rows are not computed side by side.
    """
    network = plan.network
    if isinstance(network, VoteTable):
        terms, width, outputs = _terms(plan), network.b.shape[1], network.H.shape[2]
        members = [single_precision_error(W, b, terms=terms) for W, b in zip(network.W, network.b, strict=True)]
        # All votes of all members are added up one after the other.
        slack = float(np.mean(members)) + width * ERF_ERROR + gamma(len(members) << (width - width // 2))
        return np.array([slack]) if slack < 0.25 and outputs << (width - width // 2) <= MOST_SUMS else None
    if isinstance(network, BitTable | CodeTable):
        return 2 * gamma(_terms(plan) + 8) * np.hypot(np.linalg.norm(network.W, axis=1), network.b)
    return None


def _terms(plan: ExportPlan) -> int:
    """How often a product is added to others, at the most.

    Two sums of every other feature of a word are added to each other and to those of other words; features behind and
    the bias come last. The squares of the norm are added less often.
    """
    n, units = plan.n_features, len(_units(plan))
    behind = max(_tile(units, lanes)[1] - 1 for lanes in LANES) // units
    return -(-min(n, WORD) // 2) + 1 + -(-n // WORD) + min(n, behind) + 1


def _units(plan: ExportPlan) -> NDArray[np.float64]:
    """Biases of the leading layer, over all members."""
    assert isinstance(plan.network, VoteTable | BitTable | CodeTable)
    return plan.network.b.reshape(-1)


def _tile(units: int, lanes: int) -> tuple[int, int]:
    """Units whose sums are computed at a time, and those of all tiles: `ABNET_TILE` and `ABNET_TILES` of them."""
    tiles = -(-units // (4 * lanes if lanes > 1 else 32))
    each = -(-units // tiles)
    tile = -(-each // lanes) * lanes
    return tile, tiles * tile


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
    network, constants, flash, held = plan.network, "", 0, 0
    if isinstance(network, VoteTable):
        outputs, first, second = network.H.shape[2], network.b.shape[1] // 2, -(-network.b.shape[1] // 2)
        numbers, held = network.b.size + outputs + 2**first + 2**second, 4 * 8 * gcd(8, outputs << second)
        limit = {"slack": c_number(float(slack[0]), single=False)}
        decide = (_TWO if outputs == 1 else _SEVERAL) % limit
        sizes = {"real": real, "votes": gcd(8, outputs << second), "counter": "" if outputs == 1 else "k, "}
        many = _ERF % _erf_parts() + _VOTES % {**sizes, "decide": decide}
    else:
        found = _BIT if isinstance(network, BitTable) else "abnet_class[place]"
        numbers, many, flash = len(slack), _BITS % {"found": found}, 4 * len(slack)
        constants = c_array("float", "abnet_slack", 1.001 * slack)
    loop = ((_PREPARED if prepared else _PLAIN) + _BLOCKS) % parts
    code = "\n".join(["#if ABNET_ROWS > 0", constants, _sums(plan, real), many, loop, "#endif", ""])
    ram = 4 * rows * (numbers + 5 + plan.n_features * prepared) + held + _sums_ram(plan, rows)
    return _PROTOTYPE % {"rows": rows, "argument": argument}, CPart(code, flash, ram)


def _space(plan: ExportPlan) -> int:
    """Places for the sums of all tiles, whatever the vectors."""
    return max(_tile(len(_units(plan)), lanes)[1] for lanes in LANES)


def _sums(plan: ExportPlan, real: str) -> str:
    """`abnet_many_sums`; weights in double precision are computed with one by one."""
    double = real == "double"
    lanes = {"double": " || 1" * double, "weights": "(float)*(p)" if double else "ABNET_AT(p)", "space": _space(plan)}
    return _LANES % lanes + _SUMS % {"real": real}


def _sums_ram(plan: ExportPlan, rows: int) -> int:
    """Bytes of the arrays of `abnet_many_sums` and of what it calls; a tile of longer vectors stays in registers."""
    words = -(-plan.n_features // WORD)
    return 4 * rows * _space(plan) + 8 * rows * words + 4 * 32 + 2 * 4 * _tile(len(_units(plan)), 4)[0]


def _erf_parts() -> dict[str, str]:
    values = [c_number(value, single=True) for value in ERF_COEFFICIENTS]
    steps = "\n".join(f"    v = v * u + {value};" for value in values[-2::-1])
    return {
        "end": c_number(ERF_END, single=True), "scale": c_number(2 / ERF_END**2, single=True), "top": values[-1],
        "steps": steps,
    }  # fmt: skip


_LANES = """
/* Numbers that an instruction computes with: a vector of GCC's and Clang's, or a single one (-DABNET_PLAIN). */
#if !defined __GNUC__ || defined ABNET_PLAIN%(double)s
#define ABNET_LANES 1
#elif defined __AVX512F__ && ABNET_ROWS %% 32 == 0
#define ABNET_LANES 16
#elif defined __AVX__ && ABNET_ROWS %% 16 == 0
#define ABNET_LANES 8
#elif (defined __SSE__ || defined __ARM_NEON || defined __ALTIVEC__) && ABNET_ROWS %% 8 == 0
#define ABNET_LANES 4
#else
#define ABNET_LANES 1
#endif
#if ABNET_LANES > 1
typedef float abnet_lanes __attribute__((vector_size(4 * ABNET_LANES)));
typedef float abnet_some __attribute__((vector_size(4 * ABNET_LANES), aligned(4), may_alias));
#else
typedef float abnet_lanes, abnet_some;
#endif
#define ABNET_AT(p) (*(const abnet_some *)(p))
#define ABNET_WEIGHTS(p) %(weights)s

/* Units whose sums are computed at a time: four vectors, or fewer where that leaves fewer over. */
#define ABNET_MOST (ABNET_LANES > 1 ? 4 * ABNET_LANES : 32)
#define ABNET_TILES ((ABNET_UNITS + ABNET_MOST - 1) / ABNET_MOST)
#define ABNET_PARTS (((ABNET_UNITS + ABNET_TILES - 1) / ABNET_TILES + ABNET_LANES - 1) / ABNET_LANES)
#define ABNET_TILE (ABNET_PARTS * ABNET_LANES)
#define ABNET_SPACE %(space)d
/* The last features, whose weights are followed by fewer than a tile may read beyond them, and those ahead of them. */
#define ABNET_LAST ((ABNET_TILES * ABNET_TILE - 1) / ABNET_UNITS)
#define ABNET_AHEAD (ABNET_FEATURES > ABNET_LAST ? ABNET_FEATURES - ABNET_LAST : 0)
#define ABNET_WORDS (ABNET_AHEAD > 0 ? (ABNET_AHEAD + 63) / 64 : 1)
"""

_SUMS = """
/* The place of the lowest bit of a number other than zero. */
static int abnet_lowest(unsigned long long bits) {
#if defined __GNUC__ && !defined ABNET_PLAIN
    return __builtin_ctzll(bits);
#else
    int place = 0, step;
    for (step = 32; step > 0; step /= 2)
        if ((bits & ((1ULL << step) - 1)) == 0) {
            bits >>= step;
            place += step;
        }
    return place;
#endif
}

/* Which of n <= 64 features are not zero, as bits; their squares are added to 32 sums in turn. */
static unsigned long long abnet_present(const float *x, int n, float *squares) {
    uint_least32_t low = 0, high = 0;
    const int m = n < 32 ? n : 32;
    int i;
    if (n == 64) {
        for (i = 0; i < 32; i++) low |= (uint_least32_t)(x[i] != 0.0f) << i;
        for (i = 0; i < 32; i++) high |= (uint_least32_t)(x[32 + i] != 0.0f) << i;
        for (i = 0; i < 32; i++) squares[i] += x[i] * x[i] + x[32 + i] * x[32 + i];
    } else {
        for (i = 0; i < m; i++) low |= (uint_least32_t)(x[i] != 0.0f) << i;
        for (i = 0; i < n - 32; i++) high |= (uint_least32_t)(x[32 + i] != 0.0f) << i;
        for (i = 0; i < m; i++) squares[i] += x[i] * x[i];
        for (i = 0; i < n - 32; i++) squares[i] += x[32 + i] * x[32 + i];
    }
    return (unsigned long long)high << 32 | low;
}

/* sums[u] += sum over the features that are present of w[i][u] x[i], for the units of a tile, whose sums stay in
   registers; every other feature is added to a second sum. */
static void abnet_tile(const float *x, unsigned long long bits, const %(real)s *w, float *sums) {
    abnet_lanes a[ABNET_PARTS], b[ABNET_PARTS];
    int v;
    for (v = 0; v < ABNET_PARTS; v++) a[v] = b[v] = (abnet_lanes){0};
    while (bits != 0) {
        const unsigned long long rest = bits & (bits - 1), next = rest != 0 ? rest : bits;
        const int i = abnet_lowest(bits), j = abnet_lowest(next);
        const %(real)s *wi = w + i * ABNET_UNITS, *wj = w + j * ABNET_UNITS;
        const float y = x[i], t = x[j] * (float)(rest != 0);
        for (v = 0; v < ABNET_PARTS; v++) a[v] += y * ABNET_WEIGHTS(wi + v * ABNET_LANES);
        for (v = 0; v < ABNET_PARTS; v++) b[v] += t * ABNET_WEIGHTS(wj + v * ABNET_LANES);
        bits = next & (next - 1);
    }
    for (v = 0; v < ABNET_PARTS; v++) *(abnet_some *)(sums + v * ABNET_LANES) += a[v] + b[v];
}

/* w_u f + b_u of every unit, and 1 + the squared norm of f. Features that are zero are passed over; 64 at a time, so
   that their weights are near for all rows. A tile may reach into the weights of the next feature, whose sums are not
   used; the last features, which have no next, come behind. */
static void abnet_many_sums(const float *const *f, float *z, float *norm) {
    float sums[ABNET_ROWS][ABNET_SPACE], squares[32];
    unsigned long long present[ABNET_ROWS][ABNET_WORDS];
    int start, i, k, r, u;
    for (r = 0; r < ABNET_ROWS; r++) {
        for (i = 0; i < 32; i++) squares[i] = 0.0f;
        for (k = 0, start = 0; k < ABNET_WORDS; k++, start += 64)
            present[r][k] = abnet_present(f[r] + start, ABNET_AHEAD - start < 64 ? ABNET_AHEAD - start : 64, squares);
        for (i = 0; i < 16; i++) squares[i] += squares[16 + i];
        for (i = 0; i < 8; i++) squares[i] += squares[8 + i];
        for (i = 0; i < 4; i++) squares[i] += squares[4 + i];
        norm[r] = 1.0f + ((squares[0] + squares[1]) + (squares[2] + squares[3]));
        for (u = 0; u < ABNET_SPACE; u++) sums[r][u] = 0.0f;
    }
    for (k = 0; k < ABNET_WORDS && ABNET_AHEAD > 0; k++)
        for (u = 0; u < ABNET_UNITS; u += ABNET_TILE)
            for (r = 0; r < ABNET_ROWS; r++)
                abnet_tile(f[r] + 64 * k, present[r][k], abnet_W + (size_t)k * 64 * ABNET_UNITS + u, sums[r] + u);
    for (i = ABNET_AHEAD; i < ABNET_FEATURES; i++)
        for (r = 0; r < ABNET_ROWS; r++) {
            norm[r] += f[r][i] * f[r][i];
            for (u = 0; u < ABNET_UNITS; u++) sums[r][u] += f[r][i] * (float)abnet_W[i * ABNET_UNITS + u];
        }
    for (u = 0; u < ABNET_UNITS; u++)
        for (r = 0; r < ABNET_ROWS; r++) z[u * ABNET_ROWS + r] = sums[r][u] + (float)abnet_b[u];
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
/* Columns and vectors of rows whose votes are computed at a time. */
#if ABNET_LANES > 1
#define ABNET_VOTES %(votes)d
#define ABNET_SIDE 2
#else
#define ABNET_VOTES 2
#define ABNET_SIDE ABNET_ROWS
#endif

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

/* scores[k][r] += sum over the corners of their probability times h[corner][k], for one member; some columns of the
   product with half of the cube at a time, whose sums stay in registers. */
static void abnet_many_votes(const %(real)s *h, const float *first, const float *second, float *scores) {
    int c, i, v, s, r;
    for (r = 0; r < ABNET_ROWS; r += ABNET_SIDE * ABNET_LANES)
        for (c = 0; c < ABNET_OUTPUTS << ABNET_SECOND; c += ABNET_VOTES) {
            abnet_lanes a[ABNET_VOTES][ABNET_SIDE];
            const %(real)s *line = h + c;
            const float *p = first + r;
            for (v = 0; v < ABNET_VOTES; v++)
                for (s = 0; s < ABNET_SIDE; s++) a[v][s] = (abnet_lanes){0};
            for (i = 0; i < 1 << ABNET_FIRST; i++, line += ABNET_OUTPUTS << ABNET_SECOND, p += ABNET_ROWS)
                for (v = 0; v < ABNET_VOTES; v++)
                    for (s = 0; s < ABNET_SIDE; s++) a[v][s] += (float)line[v] * ABNET_AT(p + s * ABNET_LANES);
            for (v = 0; v < ABNET_VOTES; v++) {
                const float *q = second + (c + v) / ABNET_OUTPUTS * ABNET_ROWS + r;
                float *to = scores + (c + v) %% ABNET_OUTPUTS * ABNET_ROWS + r;
                for (s = 0; s < ABNET_SIDE; s++)
                    *(abnet_some *)(to + s * ABNET_LANES) += ABNET_AT(q + s * ABNET_LANES) * a[v][s];
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
#pragma omp parallel for schedule(dynamic, 4)
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
