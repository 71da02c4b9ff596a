"""The network in C: names, texts and numbers as C writes them, and the functions that compute a score from features."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.export.plan import BitTable, ExportPlan, SignLayers, VoteTable
from abnet.predictors.predictor import Calibration

__all__ = [
    "CPart",
    "c_array",
    "c_comment",
    "c_identifiers",
    "c_number",
    "c_plain",
    "c_string",
    "network_code",
    "probability_code",
]


_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        auto break case char const continue default do double else enum extern float for goto if inline int long
        register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
        bool true false class delete new private protected public template this throw try catch virtual namespace using
        operator friend explicit export mutable typename and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq
        asm errno stdin stdout stderr linux unix typeof wchar_t constexpr nullptr alignas alignof static_assert
        thread_local noexcept decltype concept requires signbit complex imaginary
        """,
    )
)
"""Words of C and C++, and macros in small letters, which no member of a record may be called."""
_LONGEST = 40
_ASCII = {"≤": "<=", "≥": ">=", "–": "-", "—": "-", "δ": "delta", "×": "x", "±": "+-", "’": "'", "‘": "'", "…": "..."}


def c_identifiers(names: Sequence[str]) -> list[str]:
    """A different identifier for every name, as like it as C allows.

    Examples
    --------
    >>> c_identifiers(["mean radius", "Mean-Radius", "2nd", "float", "*/ }", ""])
    ['mean_radius', 'mean_radius_2', 'x2nd', 'float_', 'x', 'x_2']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_LONGEST].rstrip("_") or "x"
        stem = f"x{stem}" if stem[0].isdigit() else stem
        stem = f"{stem}_" if stem in _RESERVED else stem
        candidate, number = stem, 1
        while candidate in taken:
            number += 1
            candidate = f"{stem}_{number}"
        taken.add(candidate)
        found.append(candidate)
    return found


def c_plain(text: str, most: int | None = None) -> str:
    """Text in printable ASCII that can neither end a comment nor begin one, nor continue a line.

    Examples
    --------
    >>> c_plain("a */ b ??/ ≤ é")
    'a * / b ? ?/ <= \\\\xe9'
    """
    folded = " ".join(text.split()) if most is not None else text
    ascii_only = "".join(_ASCII.get(c, c) if ord(c) > 126 else (c if ord(c) > 31 else " ") for c in folded)
    written = ascii_only.encode("ascii", "backslashreplace").decode().replace("\x7f", " ")
    for pair in ("*/", "/*", "??"):
        while pair in written:
            written = written.replace(pair, f"{pair[0]} {pair[1]}")
    written = written if most is None or len(written) <= most else written[: most - 3] + "..."
    return written + "." if written.endswith("\\") else written


def c_comment(paragraphs: Iterable[str], width: int = 114) -> str:
    """A block comment of paragraphs; lines that are set in (with blanks) are kept as they are."""
    lines: list[str] = []
    for paragraph in paragraphs:
        for line in paragraph.split("\n"):
            plain = c_plain(line)
            indent = " " * (len(plain) - len(plain.lstrip()))
            wrapped = textwrap.wrap(plain, width, subsequent_indent=indent, break_on_hyphens=False)
            lines += [plain] if len(plain) <= width else wrapped
    # Wrapping may bring a star to the end of a line and a stroke to the start of the next: the " * " keeps them apart.
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def c_string(text: str) -> str:
    """A string literal; everything but letters, digits and blanks is written in octal.

    Examples
    --------
    >>> print(c_string('say "hi" ??/'))
    "say \\042hi\\042 \\077\\077\\057"
    """
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,"
    content = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if byte in safe else f"\\{byte:03o}" for byte in content) + '"'


def c_number(value: float, *, single: bool) -> str:
    """A number that C reads as exactly this float, or as the nearest of single precision.

    Examples
    --------
    >>> c_number(0.1, single=True), c_number(0.1, single=False), c_number(2.0, single=True)
    ('0.100000001f', '0.10000000000000001', '2.0f')
    """
    text = f"{np.float32(value):.9g}" if single else f"{value:.17g}"
    text = text if re.search("[.e]", text) else f"{text}.0"
    return f"{text}f" if single else text


def c_array(kind: str, name: str, values: NDArray[np.generic] | Sequence[float], *, size: str = "") -> str:
    """A constant array of numbers of a C type, filled row by row, whatever its declared shape."""
    flat = np.asarray(values).ravel()
    if kind in ("float", "double"):
        items = [c_number(float(value), single=kind == "float") for value in flat]
    else:
        items = [str(int(value)) for value in flat]
    body = textwrap.fill(", ".join(items), 116, initial_indent="    ", subsequent_indent="    ")
    return f"static const {kind} {name}[{size or len(items)}] = {{\n{body}\n}};"


@dataclass(frozen=True)
class CPart:
    """A piece of C, the bytes of its constants and of its arrays on the stack, and whether it needs libm."""

    code: str
    flash: int = 0
    ram: int = 0
    libm: bool = False


def network_code(plan: ExportPlan, real: str) -> CPart:
    """``static int abnet_scores(const float *f, double *scores)``: 0, or -1 if a feature is not finite."""
    network = plan.network
    if isinstance(network, VoteTable):
        return _vote(network, real)
    return _bits(network, real) if isinstance(network, BitTable) else _layers(network, real)


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
    return code, (W.size + b.size) * _size(real)


_VOTE = """
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
    code = "\n".join([*defines, leading, c_array(real, "abnet_H", network.H), _VOTE % {"real": real}])
    ram = BLOCK + 8 * (members * width + width + 2**first + (1 + outputs) * 2 ** (width - first))
    return CPart(code, flash + network.H.size * _size(real), ram, libm=True)


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
    function = [
        "static int abnet_scores(const float *f, double *scores) {",
        "    abnet_real z[ABNET_UNITS];",
        f"    signed char s[2][{widest}];",
        "    int u;",
        "    if (abnet_sums(f, z) < 0.0) return -1;",
        "    for (u = 0; u < ABNET_UNITS; u++) s[0][u] = z[u] >= 0 ? 1 : -1;",
        *calls,
        f"    scores[0] = s[{(len(widths) - 1) % 2}][0];",
        "    return 0;",
        "}",
    ]
    code = "\n".join(["#define ABNET_OUTPUTS 1", leading, *above, _LAYER % {"real": real}, *function])
    numbers = sum(W.size + len(W) for W in network.weights[1:])
    return CPart(code, flash + numbers * _size(real), BLOCK + 8 * widths[0] + 2 * widest)


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


def _size(real: str) -> int:
    return {"float": 4, "double": 8}[real]
