"""The preparation in C: from a record of columns, or an array, to the features of the network."""

from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import add

import numpy as np

from abnet.export.c_single import least_reaching
from abnet.export.c_text import CPart, c_array, c_number, c_reals, c_string
from abnet.export.export_plan import ExportPlan
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
from abnet.tables.preparation.thermometer_map import ThermometerMap

__all__ = ["feature_code"]

_LONGEST_LITERAL = 4000
"""Bytes up to which C99 takes a text as a literal; longer ones are written as numbers."""


def feature_code(plan: ExportPlan, members: list[str], *, single: bool = False) -> CPart:
    """``static int abnet_prepare(const … *row, float *f)``: 0, or ``-1 - i`` if the cell of column i is refused.

    Parameters
    ----------
    members : list of str
        Identifiers of the columns, as members of the struct of a row; empty if a row is an array of double.
    single : bool
        Whether the code will be computed in float (`in_single`).
    """
    if plan.columns is None:
        code = _array_code(plan, members, single)
    else:
        code = _table_code(plan.columns, members)
    # The features themselves are floats on the stack; codes are never written out.
    return code + CPart("", ram=4 * (plan.n_features - plan.n_codes))


# Arrays


def _array_code(plan: ExportPlan, members: list[str], single: bool) -> CPart:
    n = plan.n_columns
    constants, steps = _scaling_code(plan.scaling, single)
    row_type = "double *x"
    ram = 0
    copies = []
    if members:
        row_type = "abnet_row *row"
        ram = 8 * n
        copies = [f"    double x[{n}];", *(f"    x[{i}] = row->{name};" for i, name in enumerate(members))]
    lines = [
        f"static int abnet_prepare(const {row_type}, float *f) {{",
        "    int i;",
        *copies,
        f"    for (i = 0; i < {n}; i++) {{",
        *(f"        {step.replace('FEATURES', f'{float(plan.n_features)}')}" for step in steps),
        "    }",
        "    return 0;",
        "}",
    ]
    return reduce(add, [*constants, CPart("\n".join(lines), ram=ram)])


def _feature_steps(*scaling: str) -> list[str]:
    """Statements that make feature i of the number v of x[i]: refused unless float holds it and no norm overflows.

    In double no norm overflows; the same code in float refuses numbers above some 1e18.
    """
    refuse = "if (!(v >= -FLT_MAX && v <= FLT_MAX && v * v * FEATURES <= DBL_MAX)) return -1 - i;"
    return ["double v = x[i];", *scaling, refuse, "f[i] = (float)v;"]


@singledispatch
def _scaling_code(scaling: object, single: bool) -> tuple[list[CPart], list[str]]:
    """Constants of a scaling, and statements for column i of an array."""
    return [], _feature_steps()


@_scaling_code.register
def _(scaling: StandardMap, single: bool) -> tuple[list[CPart], list[str]]:
    constants = [c_reals("abnet_mean", np.array(scaling.mean)), c_reals("abnet_scale", np.array(scaling.scale))]
    return constants, _feature_steps("v = (v - abnet_mean[i]) / abnet_scale[i];")


@_scaling_code.register
def _(scaling: MinMaxMap, single: bool) -> tuple[list[CPart], list[str]]:
    constants = [c_reals("abnet_scale", np.array(scaling.scale)), c_reals("abnet_shift", np.array(scaling.shift))]
    # Two statements, so that product and sum are both rounded, as in NumPy: a compiler may fuse them in one.
    steps = ["v = v * abnet_scale[i];", "v = v + abnet_shift[i];"]
    if scaling.limits is not None:
        low, high = (c_number(limit, single=False) for limit in scaling.limits)
        steps.append(f"v = v < {low} ? {low} : v > {high} ? {high} : v;")
    return constants, _feature_steps(*steps)


@_scaling_code.register
def _(scaling: ThermometerMap, single: bool) -> tuple[list[CPart], list[str]]:
    starts = np.concatenate([[0], np.cumsum([len(thresholds) for thresholds in scaling.thresholds])])
    thresholds = np.array([threshold for column in scaling.thresholds for threshold in column])
    if single:
        # For a float the least float that reaches a threshold is as good as the threshold.
        thresholds = least_reaching(thresholds)
    constants = [
        CPart(c_array("int", "abnet_from", starts), flash=4 * len(starts)),
        c_reals("abnet_at", thresholds),
    ]
    return constants, [
        "int k;",
        "if (!(x[i] >= -DBL_MAX && x[i] <= DBL_MAX)) return -1 - i;",
        "for (k = abnet_from[i]; k < abnet_from[i + 1]; k++) f[k] = x[i] >= abnet_at[k] ? 1.0f : -1.0f;",
    ]


# Tables


@dataclass(frozen=True)
class _Cell:
    """The cell of a column in C.

    Attributes
    ----------
    value : str
        The expression of its value.
    feature : int
        Place of the column's first feature.
    identifier : str
        Name of the column in the names of its constants.
    """

    value: str
    feature: int
    identifier: str


@dataclass(frozen=True)
class _Statements:
    """How the features of a column are made.

    Attributes
    ----------
    lines : list of str
        Statements.
    helpers : tuple of str
        Functions that they call, by their names in `_HELPERS`.
    constants : CPart, optional
    libm : bool
        Whether they need the mathematical library.
    """

    lines: list[str]
    helpers: tuple[str, ...]
    constants: CPart | None = None
    libm: bool = False


def _table_code(columns: tuple[Column, ...], members: list[str]) -> CPart:
    every: list[_Statements] = []
    feature = 0
    for column, member in zip(columns, members, strict=True):
        every.append(_column_code(column, _Cell(f"row->{member}", feature, member)))
        feature += len(column.features)
    called = {helper for statements in every for helper in statements.helpers}
    parts = [CPart(code) for name, code in _HELPERS.items() if name in called]
    parts += [statements.constants for statements in every if statements.constants is not None]
    lines = [
        "static int abnet_prepare(const abnet_row *row, float *f) {",
        *(f"    {line}" for statements in every for line in statements.lines),
        "    return 0;",
        "}",
    ]
    prepare = CPart("\n".join(lines), libm=any(statements.libm for statements in every))
    return reduce(add, [*parts, prepare])


@singledispatch
def _column_code(column: Column, cell: _Cell) -> _Statements:
    """Statements that make the features of a column; one function for each kind of column."""
    raise TypeError(f"no C is written for a {type(column).__name__}.")


@_column_code.register
def _(column: NumericColumn | DateColumn, cell: _Cell) -> _Statements:
    value = cell.value
    feature = cell.feature
    lines = []
    helpers = ["missing"]
    if column.scale is not None:
        fill, mean, scale = (c_number(number, single=False) for number in (column.fill, column.mean, column.scale))
        lines.append(f"f[{feature}] = abnet_scaled({value}, {fill}, {mean}, {scale});")
        helpers.append("scaled")
        feature += 1
    season = isinstance(column, DateColumn) and column.season
    if season:
        angle = f"{c_number(2 * np.pi, single=False)} * ({value} / {c_number(YEAR, single=False)})"
        lines.append(f"f[{feature}] = abnet_missing({value}) ? 0.0f : (float)sin({angle});")
        lines.append(f"f[{feature + 1}] = abnet_missing({value}) ? 0.0f : (float)cos({angle});")
        feature += 2
    if column.indicator:
        lines.append(f"f[{feature}] = abnet_missing({value}) ? 1.0f : 0.0f;")
    return _Statements(lines, tuple(helpers), libm=season)


@_column_code.register
def _(column: BooleanColumn, cell: _Cell) -> _Statements:
    truth = f"f[{cell.feature}]"
    lines = [f"{truth} = abnet_truth({cell.value});"]
    if column.indicator:
        lines.append(f"f[{cell.feature + 1}] = {truth} < 0.0f || {truth} > 0.0f ? 0.0f : 1.0f;")
    return _Statements(lines, ("truth",))


@_column_code.register
def _(column: TextColumn, cell: _Cell) -> _Statements:
    name = f"abnet_categories_{cell.identifier}"
    n = len(column.categories)
    width = len(column.features)
    constants = None
    if column.categories:
        constants = _text_list(column.categories, name)
    else:
        name = "NULL"
    # -1 is no feature: all features of the column are then 0.
    new_place = -1
    if column.rare != ():
        new_place = n
    missing_place = new_place
    if column.missing:
        missing_place = width - 1
    call = f"abnet_one_hot({cell.value}, {name}, {n}, {missing_place}, {new_place}, f + {cell.feature}, {width});"
    return _Statements([call], ("blank", "find"), constants)


def _text_list(texts: tuple[str, ...], name: str) -> CPart:
    """A constant array of texts, with pointers of 4 bytes."""
    items = []
    declarations = []
    for place, text in enumerate(texts):
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > _LONGEST_LITERAL:
            declarations.append(c_array("char", f"{name}_{place}", np.frombuffer(content + b"\0", np.int8)))
            items.append(f"{name}_{place}")
        elif b"\0" in content:
            # No text of C holds a zero byte, so no cell has this category: "" is blank, and never looked up.
            items.append('""')
        else:
            items.append(c_string(text))
    listed = ",\n    ".join(items)
    declarations.append(f"static const char *const {name}[{len(texts)}] = {{\n    {listed}\n}};")
    size = sum(len(text.encode("utf-8", "surrogatepass")) + 5 for text in texts)
    return CPart("\n".join(declarations), flash=size)


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
    "missing": _MISSING,
    "scaled": _SCALED,
    "truth": _TRUTH,
    "blank": _blank_code(),
    "find": _FIND,
}
"""Functions that columns call, in an order in which each is declared before it is called."""
