"""The preparation in ONNX: a graph built node by node, from the columns to the features of the network."""

import sys
from functools import cache, singledispatch
from itertools import product
from typing import Any

import numpy as np

from abnet.export.export_plan import ExportPlan
from abnet.export.onnx_graph import OnnxGraph
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
    WordsColumn,
)
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.tables.preparation.thermometer_map import ThermometerMap

__all__ = ["onnx_features"]


_LETTER = r"\pL\p{Nl}\p{No}"
"""What Python's ``[^\\W\\d_]`` matches, for RE2."""


def onnx_features(graph: OnnxGraph, plan: ExportPlan, inputs: list[str]) -> tuple[str, str]:
    """Features (N, n) in float64, rounded to float32 before, and whether each row is one that Python takes, (N,).

    Parameters
    ----------
    inputs : list of str
        A tensor (N, 1) for each column, or one matrix of all columns of an array; numbers are float64.
    """
    if plan.columns is not None:
        features = _table(graph, plan.columns, inputs)
        # A cell of a table that cannot be read counts as missing, so every row is taken.
        taken = _all(graph, graph.constant([[True]], np.bool_))
    else:
        raw = inputs[0]
        if len(inputs) > 1:
            raw = graph.node("Concat", *inputs, axis=1)
        features = _scaled(plan.scaling, graph, raw)
        taken = _below(graph, raw, np.finfo(np.float64).max)
    rounded = graph.cast(graph.cast(features, "FLOAT"), "DOUBLE")
    if plan.n_codes:
        signs = _signs(graph, rounded, plan.coded)
        rounded = graph.node("Concat", rounded, signs, axis=1)
    return rounded, graph.node("And", taken, _below(graph, rounded, np.finfo(np.float32).max))


def _below(graph: OnnxGraph, x: str, largest: Any) -> str:
    """Whether a row's numbers are all finite, and at most the largest one of a type."""
    return _all(graph, graph.node("LessOrEqual", graph.node("Abs", x), graph.constant(float(largest))))


def _all(graph: OnnxGraph, truths: str) -> str:
    least = graph.node("ReduceMin", graph.cast(truths, "INT32"), graph.constant([1], np.int64), keepdims=0)
    return graph.cast(least, "BOOL")


def _signs(graph: OnnxGraph, x: str, coded: list[tuple[int, float]]) -> str:
    """``sgn(x_j - t)`` for places j and thresholds t."""
    values = graph.take(x, [place for place, _ in coded])
    return graph.choose(graph.node("GreaterOrEqual", values, graph.constant([t for _, t in coded])), 1.0, -1.0)


# Arrays


@singledispatch
def _scaled(scaling: object, graph: OnnxGraph, raw: str) -> str:
    """Features of an array in float64, with the steps that NumPy takes."""
    return raw


@_scaled.register
def _(scaling: StandardMap, graph: OnnxGraph, raw: str) -> str:
    centred = graph.node("Sub", raw, graph.constant(scaling.mean))
    return graph.node("Div", centred, graph.constant(scaling.scale))


@_scaled.register
def _(scaling: MinMaxMap, graph: OnnxGraph, raw: str) -> str:
    product = graph.node("Mul", raw, graph.constant(scaling.scale))
    shifted = graph.node("Add", product, graph.constant(scaling.shift))
    if scaling.limits is None:
        return shifted
    low, high = scaling.limits
    return graph.node("Clip", shifted, graph.constant(low), graph.constant(high))


@_scaled.register
def _(scaling: ThermometerMap, graph: OnnxGraph, raw: str) -> str:
    coded = [(place, t) for place, thresholds in enumerate(scaling.thresholds) for t in thresholds]
    return _signs(graph, raw, coded)


# Tables


def _table(graph: OnnxGraph, columns: tuple[Column, ...], inputs: list[str]) -> str:
    """Features column after column."""
    blocks = [_column(column, graph, x) for column, x in zip(columns, inputs, strict=True) if column.features]
    return _joined(graph, blocks)


def _joined(graph: OnnxGraph, parts: list[str]) -> str:
    return graph.node("Concat", *parts, axis=1)


@singledispatch
def _column(column: Column, graph: OnnxGraph, x: str) -> str:
    """Features (N, k) of a column x (N, 1); one function for each kind of column."""
    raise TypeError(f"no ONNX is written for a {type(column).__name__}.")


@_column.register
def _(column: NumericColumn | DateColumn, graph: OnnxGraph, x: str) -> str:
    # No comparison with NaN is true, so NaN is missing, too.
    present = graph.node("LessOrEqual", graph.node("Abs", x), graph.constant(LARGEST))
    missing = graph.node("Not", present)
    parts = []
    if column.scale is not None:
        filled = graph.node("Where", missing, graph.constant(column.fill), x)
        centred = graph.node("Sub", filled, graph.constant(column.mean))
        scaled = graph.node("Div", centred, graph.constant(column.scale))
        parts.append(graph.node("Clip", scaled, graph.constant(-CLIP), graph.constant(CLIP)))
    if isinstance(column, DateColumn) and column.season:
        angle = graph.node("Mul", graph.constant(2 * np.pi), graph.node("Div", x, graph.constant(YEAR)))
        parts.append(graph.node("Where", missing, graph.constant(0.0), graph.node("Sin", angle)))
        parts.append(graph.node("Where", missing, graph.constant(0.0), graph.node("Cos", angle)))
    if column.indicator:
        parts.append(graph.choose(missing, 1.0, 0.0))
    return _joined(graph, parts)


@_column.register
def _(column: BooleanColumn, graph: OnnxGraph, x: str) -> str:
    true = graph.node("Equal", x, graph.constant(1.0))
    false = graph.node("Equal", x, graph.constant(0.0))
    parts = [graph.node("Where", true, graph.constant(1.0), graph.choose(false, -1.0, 0.0))]
    if column.indicator:
        parts.append(graph.choose(graph.node("Equal", parts[0], graph.constant(0.0)), 1.0, 0.0))
    return _joined(graph, parts)


_MARKS = sorted({"".join(letters) for mark in BLANK for letters in product(*({c.lower(), c.upper()} for c in mark))})
"""The marks of a missing text in every case of letters."""


def _coded(graph: OnnxGraph, x: str, texts: list[str], codes: list[int], default: int) -> str:
    keys = [text.encode("utf-8", "surrogatepass") for text in texts]
    return graph.node(
        "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=keys, values_int64s=codes, default_int64=default
    )


@_column.register
def _(column: TextColumn, graph: OnnxGraph, x: str) -> str:
    """Rows of a table of features: one for each category, then one for missing cells and one for new categories."""
    n = len(column.categories)
    width = len(column.features)
    new_place = None
    if column.rare != ():
        new_place = n
    missing_place = new_place
    if column.missing:
        missing_place = width - 1
    lookup = np.zeros((n + 2, width))
    for row, place in enumerate([*range(n), missing_place, new_place]):
        if place is not None:
            lookup[row, place] = 1
    codes = {category: place for place, category in enumerate(column.categories)} | dict.fromkeys(_MARKS, n)
    code = _coded(graph, x, list(codes), list(codes.values()), n + 1)
    return graph.reshape(graph.node("Gather", graph.constant(lookup), code, axis=0), -1, width)


@_column.register
def _(column: WordsColumn, graph: OnnxGraph, x: str) -> str:
    """Whether the text has each word, by regular expressions (RE2)."""
    graph.opset = 20
    blank = graph.cast(_coded(graph, x, _MARKS, [1] * len(_MARKS), 0), "BOOL")
    present = graph.node("Not", blank)
    parts = []
    for word in column.words:
        pattern = f"(?s)(?:.*[^{_LETTER}])?{_any_case(word)}(?:[^{_LETTER}].*)?"
        has = graph.node("And", present, graph.node("RegexFullMatch", x, pattern=pattern))
        parts.append(graph.cast(has, "DOUBLE"))
    if column.missing:
        parts.append(graph.cast(blank, "DOUBLE"))
    return _joined(graph, parts)


@cache
def _folded() -> dict[str, str]:
    """For one, two or three small letters, the characters that Python's ``casefold`` makes them of: ß for ss."""
    sources: dict[str, str] = {}
    for character in map(chr, range(sys.maxunicode + 1)):
        folded = character.casefold()
        if folded != character:
            sources[folded] = sources.get(folded, "") + character
    return sources


def _any_case(word: str) -> str:
    """A pattern for what ``casefold`` makes this word of."""
    if not word:
        return ""
    sources = word[0] + _folded().get(word[0], "")
    ways = [f"[{_class(sources)}]{_any_case(word[1:])}"]
    for length in (2, 3):
        # A slice beyond the end is shorter, and was looked up before.
        sources = _folded().get(word[:length], "")
        if len(word) >= length and sources:
            ways.append(f"[{_class(sources)}]{_any_case(word[length:])}")
    if len(ways) == 1:
        return ways[0]
    return f"(?:{'|'.join(ways)})"


def _class(characters: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in characters)
