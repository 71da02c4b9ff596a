"""The preparation in C: from a record of columns, or an array, to the features of the network."""

from typing import Any

import numpy as np

from abnet.data.preparation.coded import ThermometerMap
from abnet.data.preparation.columns import (
    CLIP,
    LARGEST,
    YEAR,
    BooleanColumn,
    DateColumn,
    NumericColumn,
    TextColumn,
)
from abnet.data.preparation.scalers import MinMaxMap, StandardMap
from abnet.data.preparation.words import HashedColumn, WordsColumn
from abnet.data.tables.cells import BLANK
from abnet.export.c_text import CPart, c_array, c_number, c_plain, c_string
from abnet.export.c_tokens import hashed_code, unicode_code, words_code
from abnet.export.plan import ExportPlan

__all__ = ["feature_code"]

_LONGEST_LITERAL = 4000
"""Bytes up to which C99 takes a text as a literal; longer ones are written as numbers."""


def feature_code(plan: ExportPlan, members: list[str]) -> CPart:
    """``static int abnet_prepare(const … *row, float *f)``, or nothing where the inputs are the features.

    Parameters
    ----------
    members : list of str
        Identifiers of the columns, as members of the record; empty for an array of float.
    """
    if plan.columns is not None:
        return _table(plan, members)
    if plan.scaling is None and not plan.thresholds and not members:
        return CPart("")
    return _array(plan, members)


# Arrays


def _array(plan: ExportPlan, members: list[str]) -> CPart:
    n, scaling = plan.n_columns, plan.scaling
    real = "double" if members else "float"
    lines, constants, flash = [], [], 0
    if members:
        lines = [f"    double x[{n}];", "    int i;", *(f"    x[{i}] = row->{name};" for i, name in enumerate(members))]
        head = "static int abnet_prepare(const abnet_row *row, float *f) {"
    else:
        lines, head = ["    int i;"], "static int abnet_prepare(const float *x, float *f) {"
    made = n
    if isinstance(scaling, StandardMap):
        constants += [c_array(real, "abnet_mean", scaling.mean), c_array(real, "abnet_scale", scaling.scale)]
        lines += _loop(n, real, ["v = (x[i] - abnet_mean[i]) / abnet_scale[i];"])
        flash += 2 * n * (8 if members else 4)
    elif isinstance(scaling, MinMaxMap):
        constants += [c_array("double", "abnet_scale", scaling.scale), c_array("double", "abnet_shift", scaling.shift)]
        # In single precision each step is rounded, as NumPy does where it works in place.
        steps = [f"v = ({real})((double)x[i] * abnet_scale[i]);", f"v = ({real})((double)v + abnet_shift[i]);"]
        if scaling.limits is not None:
            low, high = (c_number(limit, single=not members) for limit in scaling.limits)
            steps.append(f"v = v < {low} ? {low} : v > {high} ? {high} : v;")
        lines += _loop(n, real, steps)
        flash += 16 * n
    elif isinstance(scaling, ThermometerMap):
        made, codes = scaling.n_features_out, [(i, t) for i, ts in enumerate(scaling.thresholds) for t in ts]
        code, size = _codes(codes, "abnet_signs", "x", 0, n)
        lines += [f"    for (i = 0; i < {n}; i++) if (!(x[i] >= -DBL_MAX && x[i] <= DBL_MAX)) return -1;", code[1]]
        constants.append(code[0])
        flash += size
    else:
        lines += _loop(n, real, ["v = x[i];"])
    more, size = _coded_lines(plan, made)
    constants += more[0]
    body = "\n".join([*constants, "", head, *lines, *more[1], "    return 0;", "}"])
    return CPart(body, flash + size, 4 * plan.n_features + (8 * n if members else 0))


def _loop(n: int, real: str, steps: list[str]) -> list[str]:
    check = ["        if (!(v >= -FLT_MAX && v <= FLT_MAX)) return -1;", "        f[i] = (float)v;"]
    return [
        f"    for (i = 0; i < {n}; i++) {{",
        f"        {real} v;",
        *(f"        {s}" for s in steps),
        *check,
        "    }",
    ]


def _codes(codes: list[tuple[int, float]], name: str, source: str, start: int, n: int) -> tuple[tuple[str, str], int]:
    """Constants and the loop of signs ``sgn(source[place] - t)``, from f[start] on."""
    kind, size = ("unsigned short", 2) if n < 65536 else ("unsigned long", 8)
    places, thresholds = [place for place, _ in codes], [t for _, t in codes]
    arrays = "\n".join([c_array(kind, f"{name}_of", np.array(places)), c_array("double", f"{name}_at", thresholds)])
    loop = (
        f"    for (i = 0; i < {len(codes)}; i++)\n"
        f"        f[{start} + i] = (double){source}[{name}_of[i]] >= {name}_at[i] ? 1.0f : -1.0f;"
    )
    return (arrays, loop), len(codes) * (8 + size)


def _coded_lines(plan: ExportPlan, made: int) -> tuple[tuple[list[str], list[str]], int]:
    if not plan.n_codes:
        return ([], []), 0
    (arrays, loop), size = _codes(plan.coded, "abnet_code", "f", made, made)
    return ([arrays], [loop]), size


# Tables


def _table(plan: ExportPlan, members: list[str]) -> CPart:
    assert plan.columns is not None
    helpers: dict[str, str] = {}
    constants: list[str] = []
    lines: list[str] = []
    tokens = _token_parts(plan.columns)
    flash, at = sum(part.flash for part in tokens), 0
    for column, member in zip(plan.columns, members, strict=True):
        lines.append(f"    /* {c_plain(column.name, 60)} */")
        made, texts, size = _column(column, f"row->{member}", member, at, helpers)
        lines += [f"    {line}" for line in made]
        constants += texts
        flash += size
        at += len(column.features)
    more, size = _coded_lines(plan, at)
    counter = ["    int i;"] if any("(i = 0;" in line for line in (*lines, *more[1])) else []
    parts = [
        *helpers.values(), *(part.code for part in tokens), *constants, *more[0],
        "static int abnet_prepare(const abnet_row *row, float *f) {",
        *counter, *lines, *more[1], "    return 0;", "}",
    ]  # fmt: skip
    libm = any(isinstance(column, DateColumn) and column.season for column in plan.columns)
    return CPart("\n".join(parts), flash + size, 4 * plan.n_features + sum(part.ram for part in tokens), libm)


def _token_parts(columns: tuple[Any, ...]) -> list[CPart]:
    """What columns of words and of hashed text call."""
    words = [word for column in columns if isinstance(column, WordsColumn) for word in column.words]
    hashed = any(isinstance(column, HashedColumn) for column in columns)
    parts = [unicode_code()] if words or hashed else []
    parts += [words_code(max(len(word.encode()) for word in words))] if words else []
    return parts + ([hashed_code()] if hashed else [])


def _column(column: Any, x: str, member: str, at: int, helpers: dict[str, str]) -> tuple[list[str], list[str], int]:
    """Statements, constants and their bytes for one column; the helpers that they call are added."""
    if isinstance(column, NumericColumn | DateColumn):
        return _numbers(column, x, at, helpers), [], 24
    if isinstance(column, BooleanColumn):
        helpers["truth"] = _TRUTH
        flag = [f"f[{at + 1}] = f[{at}] < 0.0f || f[{at}] > 0.0f ? 0.0f : 1.0f;"] * column.indicator
        return [f"f[{at}] = abnet_truth({x});", *flag], [], 0
    helpers["blank"] = _blank_code()
    if isinstance(column, TextColumn):
        helpers["find"] = _FIND
        n, width = len(column.categories), len(column.features)
        listed, name, size = _texts(column.categories, f"abnet_categories_{member}")
        other = n if column.rare != () else -1
        gap = width - 1 if column.missing else other
        call = f"abnet_one_hot({x}, {name}, {n}, {gap}, {other}, f + {at}, {width});"
        return [call], listed, size
    if isinstance(column, HashedColumn):
        call = f"if (abnet_hashed({x}, {column.buckets}, f + {at}, {len(column.features)})) return -1;"
        return [call], [], 0
    assert isinstance(column, WordsColumn)
    listed, name, size = _texts(column.words, f"abnet_words_{member}")
    call = f"if (abnet_words({x}, {name}, {len(column.words)}, f + {at}, {len(column.features)})) return -1;"
    return [call], listed, size


def _numbers(column: NumericColumn | DateColumn, x: str, at: int, helpers: dict[str, str]) -> list[str]:
    helpers["number"] = _NUMBER
    lines = [f"if (!abnet_number({x})) return -1;"]
    if column.scale is not None:
        helpers["scaled"] = _SCALED
        fill, mean, scale = (c_number(value, single=False) for value in (column.fill, column.mean, column.scale))
        lines.append(f"f[{at}] = abnet_scaled({x}, {fill}, {mean}, {scale});")
        at += 1
    if isinstance(column, DateColumn) and column.season:
        turn = f"{c_number(2 * np.pi, single=False)} * ({x} / {c_number(YEAR, single=False)})"
        lines += [
            f"f[{at}] = abnet_missing({x}) ? 0.0f : (float)sin({turn});",
            f"f[{at + 1}] = abnet_missing({x}) ? 0.0f : (float)cos({turn});",
        ]
        at += 2
    if column.indicator:
        lines.append(f"f[{at}] = abnet_missing({x}) ? 1.0f : 0.0f;")
    if any("abnet_missing" in line for line in lines):
        helpers["missing"] = _MISSING
    return lines


def _texts(texts: tuple[str, ...], name: str) -> tuple[list[str], str, int]:
    """Constants for a list of texts, its name (NULL for none), and its bytes with pointers of 4 bytes."""
    if not texts:
        return [], "NULL", 0
    items, declarations = [], []
    for place, text in enumerate(texts):
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > _LONGEST_LITERAL:
            bytes_of = np.frombuffer(content + b"\0", np.int8)
            declarations.append(c_array("char", f"{name}_{place}", bytes_of))
            items.append(f"{name}_{place}")
        else:
            # No text of C holds a zero byte, so a category with one is met by none: "" is blank, and never looked up.
            items.append('""' if b"\0" in content else c_string(text))
    listed = ",\n    ".join(items)
    declarations.append(f"static const char *const {name}[{len(texts)}] = {{\n    {listed}\n}};")
    return declarations, name, sum(len(text.encode("utf-8", "surrogatepass")) + 5 for text in texts)


_MISSING = """
/* A number that is missing is NaN, the only one that differs from itself. */
static int abnet_missing(double x) { return x != x; }
"""

_NUMBER = f"""
static int abnet_number(double x) {{ return x != x || (x >= -{LARGEST!r} && x <= {LARGEST!r}); }}
"""

_SCALED = f"""
static float abnet_scaled(double x, double fill, double mean, double scale) {{
    const double v = ((x != x ? fill : x) - mean) / scale;
    return (float)(v < -{CLIP!r} ? -{CLIP!r} : v > {CLIP!r} ? {CLIP!r} : v);
}}
"""

_TRUTH = """
static float abnet_truth(double x) {
    if (x >= 1.0 && x <= 1.0) return 1.0f;
    return x >= 0.0 && x <= 0.0 ? -1.0f : 0.0f;
}
"""


def _blank_code() -> str:
    """Blanks around a text as Python knows them, in UTF-8, and the marks of a missing text."""
    marks = sorted(BLANK)
    listed = ", ".join(c_string(mark) for mark in marks)
    return f"""
/* Bytes of the blank that a text begins with: those that Python strips, in UTF-8. */
static size_t abnet_blank_before(const char *s, const char *end) {{
    const unsigned char *u = (const unsigned char *)s;
    const size_t left = (size_t)(end - s);
    if (left >= 1 && (u[0] == ' ' || (u[0] >= 9 && u[0] <= 13) || (u[0] >= 28 && u[0] <= 31))) return 1;
    if (left >= 2 && u[0] == 0xC2 && (u[1] == 0x85 || u[1] == 0xA0)) return 2;
    if (left < 3) return 0;
    if (u[0] == 0xE1 && u[1] == 0x9A && u[2] == 0x80) return 3;
    if (u[0] == 0xE2 && u[1] == 0x80 && u[2] >= 0x80 && u[2] <= 0x8A) return 3;
    if (u[0] == 0xE2 && u[1] == 0x80 && (u[2] == 0xA8 || u[2] == 0xA9 || u[2] == 0xAF)) return 3;
    if (u[0] == 0xE2 && u[1] == 0x81 && u[2] == 0x9F) return 3;
    return u[0] == 0xE3 && u[1] == 0x80 && u[2] == 0x80 ? 3 : 0;
}}

/* The text without the blanks around it; its length. */
static size_t abnet_strip(const char **text) {{
    const char *s = *text, *end = s + strlen(s);
    size_t step, k;
    while ((step = abnet_blank_before(s, end)) > 0) s += step;
    do {{
        step = 0;
        for (k = 1; k <= 3 && k <= (size_t)(end - s); k++)
            if (abnet_blank_before(end - k, end) == k) step = k;
        end -= step;
    }} while (step > 0);
    *text = s;
    return (size_t)(end - s);
}}

static char abnet_small(char c) {{ return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }}

static int abnet_same(const char *s, size_t length, const char *mark) {{
    size_t i;
    for (i = 0; i < length && mark[i] != 0; i++)
        if (abnet_small(s[i]) != mark[i]) return 0;
    return i == length && mark[i] == 0;
}}

/* Whether a text, stripped, marks a missing value. */
static int abnet_blank(const char *s, size_t length) {{
    static const char *const marks[{len(marks)}] = {{{listed}}};
    int i;
    for (i = 0; i < {len(marks)}; i++)
        if (abnet_same(s, length, marks[i])) return 1;
    return 0;
}}
"""


_FIND = """
/* 1 at the place of the category, at `gap` where it is missing, at `other` where it is new; -1 is no place. */
static void abnet_one_hot(const char *s, const char *const *list, int n, int gap, int other, float *f, int features) {
    size_t length = 0;
    int i, place = gap;
    if (s != NULL && (length = abnet_strip(&s), !abnet_blank(s, length))) {
        place = other;
        for (i = 0; i < n; i++)
            if (strlen(list[i]) == length && memcmp(list[i], s, length) == 0) place = i;
    }
    for (i = 0; i < features; i++) f[i] = i == place ? 1.0f : 0.0f;
}
"""
