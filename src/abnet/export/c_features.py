"""The preparation in C: from a record of columns, or an array, to the features of the network."""

from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import add

import numpy as np

from abnet.export.c_single import least_reaching
from abnet.export.c_text import CPart, c_array, c_number, c_reals, c_string
from abnet.export.plan import ExportPlan
from abnet.tables.cells import BLANK
from abnet.tables.columns import (
    CLIP,
    LARGEST,
    YEAR,
    BooleanColumn,
    Column,
    DateColumn,
    NumericColumn,
    TextColumn,
)
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.tables.preparation.thermometer import ThermometerMap

__all__ = ["feature_code"]

_LONGEST_LITERAL = 4000
"""Bytes up to which C99 takes a text as a literal; longer ones are written as numbers."""


def feature_code(plan: ExportPlan, members: list[str], *, single: bool = False) -> CPart:
    """``static int abnet_prepare(const … *row, float *f)``: 0, or ``-1 - i`` if the cell of column i is refused.

    Parameters
    ----------
    members : list of str
        Identifiers of the columns, as members of the record; empty for an array of double.
    single : bool
        Whether the code will be computed in float (`in_single`).
    """
    made = plan.n_features - plan.n_codes
    prepared = _array(plan, members, single) if plan.columns is None else _table(plan, members)
    return prepared + CPart("", 0, 4 * made)


# Arrays


def _array(plan: ExportPlan, members: list[str], single: bool) -> CPart:
    n = plan.n_columns
    constants, steps = _scaled(plan.scaling, single)
    steps = [step.replace("FEATURES", f"{float(plan.n_features)}") for step in steps]
    copy = [f"    double x[{n}];", *(f"    x[{i}] = row->{name};" for i, name in enumerate(members))] if members else []
    lines = [
        f"static int abnet_prepare(const {'abnet_row *row' if members else 'double *x'}, float *f) {{",
        "    int i;",
        *copy,
        f"    for (i = 0; i < {n}; i++) {{",
        *(f"        {step}" for step in steps),
        "    }",
        "    return 0;",
        "}",
    ]
    return reduce(add, [*constants, CPart("\n".join(lines), 0, 8 * n if members else 0)])


def _kept(*steps: str) -> list[str]:
    """Steps that make feature i, the number v of x[i]: refused unless float32 holds it and norms do not overflow.

    In double they never do; the same code in float refuses numbers above some 1e18.
    """
    refuse = "if (!(v >= -FLT_MAX && v <= FLT_MAX && v * v * FEATURES <= DBL_MAX)) return -1 - i;"
    return ["double v = x[i];", *steps, refuse, "f[i] = (float)v;"]


@singledispatch
def _scaled(scaling: object, single: bool) -> tuple[list[CPart], list[str]]:
    """Constants of a scaling, and statements for column i of an array."""
    return [], _kept()


@_scaled.register
def _(scaling: StandardMap, single: bool) -> tuple[list[CPart], list[str]]:
    constants = [c_reals("abnet_mean", np.array(scaling.mean)), c_reals("abnet_scale", np.array(scaling.scale))]
    return constants, _kept("v = (v - abnet_mean[i]) / abnet_scale[i];")


@_scaled.register
def _(scaling: MinMaxMap, single: bool) -> tuple[list[CPart], list[str]]:
    constants = [c_reals("abnet_scale", np.array(scaling.scale)), c_reals("abnet_shift", np.array(scaling.shift))]
    steps = ["v = v * abnet_scale[i];", "v = v + abnet_shift[i];"]  # two statements: each is rounded
    if scaling.limits is not None:
        low, high = (c_number(limit, single=False) for limit in scaling.limits)
        steps.append(f"v = v < {low} ? {low} : v > {high} ? {high} : v;")
    return constants, _kept(*steps)


@_scaled.register
def _(scaling: ThermometerMap, single: bool) -> tuple[list[CPart], list[str]]:
    first = np.concatenate([[0], np.cumsum([len(t) for t in scaling.thresholds])])
    thresholds = np.array([t for one in scaling.thresholds for t in one])
    # For a float the least float that reaches a threshold is as good as the threshold.
    at = least_reaching(thresholds) if single else thresholds
    constants = [CPart(c_array("int", "abnet_from", first), 4 * len(first)), c_reals("abnet_at", at)]
    return constants, [
        "int k;",
        "if (!(x[i] >= -DBL_MAX && x[i] <= DBL_MAX)) return -1 - i;",
        "for (k = abnet_from[i]; k < abnet_from[i + 1]; k++) f[k] = x[i] >= abnet_at[k] ? 1.0f : -1.0f;",
    ]


# Tables


@dataclass(frozen=True)
class _Cell:
    """A column in C: the expression of its cell, its first feature, and a name for its constants."""

    x: str
    at: int
    name: str


@dataclass(frozen=True)
class _Statements:
    """Statements that make the features of a column, its constants, and the helpers that they call."""

    lines: list[str]
    helpers: tuple[str, ...]
    constants: CPart | None = None
    libm: bool = False


def _table(plan: ExportPlan, members: list[str]) -> CPart:
    assert plan.columns is not None
    found, at = [], 0
    for column, member in zip(plan.columns, members, strict=True):
        found.append(_column(column, _Cell(f"row->{member}", at, member)))
        at += len(column.features)
    called = {helper for statements in found for helper in statements.helpers}
    parts = [CPart(code) for name, code in _HELPERS.items() if name in called]
    parts += [statements.constants for statements in found if statements.constants is not None]
    lines = [
        "static int abnet_prepare(const abnet_row *row, float *f) {",
        *(f"    {line}" for statements in found for line in statements.lines),
        "    return 0;",
        "}",
    ]
    return reduce(add, [*parts, CPart("\n".join(lines), libm=any(statements.libm for statements in found))])


@singledispatch
def _column(column: Column, cell: _Cell) -> _Statements:
    raise TypeError(f"no C is written for a {type(column).__name__}.")


@_column.register
def _(column: NumericColumn | DateColumn, cell: _Cell) -> _Statements:
    x, at = cell.x, cell.at
    lines, helpers = [], ["missing"]
    season = isinstance(column, DateColumn) and column.season
    if column.scale is not None:
        fill, mean, scale = (c_number(value, single=False) for value in (column.fill, column.mean, column.scale))
        lines.append(f"f[{at}] = abnet_scaled({x}, {fill}, {mean}, {scale});")
        helpers.append("scaled")
        at += 1
    if season:
        turn = f"{c_number(2 * np.pi, single=False)} * ({x} / {c_number(YEAR, single=False)})"
        lines += [
            f"f[{at}] = abnet_missing({x}) ? 0.0f : (float)sin({turn});",
            f"f[{at + 1}] = abnet_missing({x}) ? 0.0f : (float)cos({turn});",
        ]
        at += 2
    if column.indicator:
        lines.append(f"f[{at}] = abnet_missing({x}) ? 1.0f : 0.0f;")
    return _Statements(lines, tuple(helpers), libm=season)


@_column.register
def _(column: BooleanColumn, cell: _Cell) -> _Statements:
    at = cell.at
    flag = [f"f[{at + 1}] = f[{at}] < 0.0f || f[{at}] > 0.0f ? 0.0f : 1.0f;"] * column.indicator
    return _Statements([f"f[{at}] = abnet_truth({cell.x});", *flag], ("truth",))


@_column.register
def _(column: TextColumn, cell: _Cell) -> _Statements:
    n, width = len(column.categories), len(column.features)
    name, constants = _texts(column.categories, f"abnet_categories_{cell.name}")
    other = n if column.rare != () else -1
    gap = width - 1 if column.missing else other
    call = f"abnet_one_hot({cell.x}, {name}, {n}, {gap}, {other}, f + {cell.at}, {width});"
    return _Statements([call], ("blank", "find"), constants)


def _texts(texts: tuple[str, ...], name: str) -> tuple[str, CPart]:
    """The name of a list of texts (NULL for none), and its constants, with pointers of 4 bytes."""
    if not texts:
        return "NULL", CPart("")
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
    size = sum(len(text.encode("utf-8", "surrogatepass")) + 5 for text in texts)
    return name, CPart("\n".join(declarations), size)


_MISSING = f"""
/* A number that is missing is NaN, infinite or beyond any reasonable size. */
static int abnet_missing(double x) {{ return !(x >= -{LARGEST!r} && x <= {LARGEST!r}); }}
"""

_SCALED = f"""
static float abnet_scaled(double x, double fill, double mean, double scale) {{
    const double v = ((abnet_missing(x) ? fill : x) - mean) / scale;
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

_HELPERS = {
    "missing": _MISSING, "scaled": _SCALED, "truth": _TRUTH, "blank": _blank_code(), "find": _FIND,
}  # fmt: skip
"""Functions that columns call, in an order in which each is declared before it is called."""
