"""The preparation in ONNX: a graph built node by node, from the columns to the features of the network."""

import sys
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
from abnet.data.preparation.words import WordsColumn
from abnet.data.tables.cells import BLANK
from abnet.export.plan import ExportPlan

if TYPE_CHECKING:
    import onnx

__all__ = ["OnnxGraph", "import_onnx", "onnx_features"]


ERF_END = 6.0
"""From here on the error function is 1 in float64."""
ERF_SERIES = (
    0.3785374169292397, 0.42218758361344777, 0.16940759095449764, 0.0329934294778909, -0.0016702444046923937,
    -0.0016653643667956324, 0.00013358426953576807, 0.00010054189868280341, -2.2700159899704513e-05,
    -4.271117396357692e-06, 2.838143104316882e-06, -2.823393880271042e-07, -1.9838585196813037e-07,
    8.64694333890086e-08, -6.513118485109626e-09, -7.352472518437774e-09, 3.3658288322023846e-09,
    -2.776307855150726e-10, -2.9766387405215563e-10, 9.395932046122793e-11, -7.106929108334487e-13,
)  # fmt: skip
"""``exp(z²) erfc(z)`` for z in [0, 6] as a polynomial of u, where ``2/(2 + z) = 1/4 + 3/8 (u + 1)``: interpolated at
Chebyshev's points."""


def import_onnx() -> Any:
    """The package onnx; ImportError says how to install it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("writing ONNX needs the package onnx: pip install 'abnet[onnx]'.") from error
    return onnx


class OnnxGraph:
    """Nodes and constants so far. Every method takes and returns names of tensors."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self.onnx = import_onnx()
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._taken = set(taken)
        self.opset = 18

    def fresh(self, stem: str) -> str:
        """A name that no tensor has yet."""
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """A constant tensor."""
        name = self.fresh("constant")
        array = np.asarray(values, dtype)
        if array.dtype.kind in "OU":
            texts = [text.encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def node(self, op: str, *inputs: str, out: str | None = None, domain: str = "", **attributes: Any) -> str:
        """One node with one result."""
        result = out or self.fresh(op.lower())
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), [result], domain=domain, **attributes))
        return result

    def cast(self, x: str, kind: str, out: str | None = None) -> str:
        """The tensor in another type, such as "DOUBLE"."""
        return self.node("Cast", x, out=out, to=getattr(self.onnx.TensorProto, kind))

    def affine(self, x: str, scale: float, shift: float) -> str:
        """``scale x + shift`` in float64."""
        return self.node("Add", self.node("Mul", x, self.constant(scale)), self.constant(shift))

    def take(self, x: str, places: Sequence[int]) -> str:
        """Columns of a matrix."""
        return self.node("Gather", x, self.constant(list(places), np.int64), axis=1)

    def choose(self, condition: str, yes: Any, no: Any, dtype: Any = np.float64) -> str:
        """One of two numbers."""
        return self.node("Where", condition, self.constant(yes, dtype), self.constant(no, dtype))

    def erf(self, x: str) -> str:
        """The error function within 1e-15: onnxruntime has it in single precision only."""
        z = self.node("Min", self.node("Abs", x), self.constant(ERF_END))
        t = self.node("Div", self.constant(2.0), self.node("Add", z, self.constant(2.0)))
        u = self.affine(t, 8 / 3, -5 / 3)
        value = self.constant(ERF_SERIES[-1])
        for coefficient in ERF_SERIES[-2::-1]:
            value = self.node("Add", self.node("Mul", value, u), self.constant(coefficient))
        gauss = self.node("Exp", self.node("Neg", self.node("Mul", z, z)))
        size = self.node("Sub", self.constant(1.0), self.node("Mul", gauss, value))
        return self.node("Mul", self.node("Sign", x), size)

    def corners(self, m: str, places: range) -> str:
        """Probabilities (M, N, 2^d) of the corners of the cube, for means (M, N, width) at some places."""
        half = self.node("Mul", m, self.constant(0.5))
        out = ""
        for place in reversed(places):
            one = self.node("Gather", half, self.constant([place], np.int64), axis=2)
            low, high = (self.node(op, self.constant(0.5), one) for op in ("Sub", "Add"))
            parts = [self.node("Mul", side, out) for side in (low, high)] if out else [low, high]
            out = self.node("Concat", *parts, axis=2)
        return out

    def reshape(self, x: str, *shape: int) -> str:
        """The tensor in another shape; 0 keeps a length, -1 is what is left."""
        return self.node("Reshape", x, self.constant(shape, np.int64))

    def labels(self, codes: str, classes: NDArray[Any]) -> str:
        """The label of every code; labels of mixed types as text."""
        kinds: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}
        dtype = kinds.get(classes.dtype.kind, object)
        values = [str(label) for label in classes.tolist()] if dtype is object else classes
        return self.node("Gather", self.constant(values, dtype), codes, axis=0)


_LETTER = r"\pL\p{Nl}\p{No}"
"""What Python's ``[^\\W\\d_]`` matches, for RE2."""


def onnx_features(graph: OnnxGraph, plan: ExportPlan, inputs: list[str], *, double: bool) -> tuple[str, str]:
    """Features (N, n) in float64, rounded to float32 before, and whether each row is one that Python takes, (N,).

    Parameters
    ----------
    inputs : list of str
        A tensor (N, 1) for each column, or one matrix of all columns of an array.
    double : bool
        Whether the numbers of an array are float64, not float32; those of a table are.
    """
    if plan.columns is not None:
        features, taken = _table(graph, plan, inputs)
    else:
        raw = graph.node("Concat", *inputs, axis=1) if len(inputs) > 1 else inputs[0]
        features, taken = _array(graph, plan, raw, double), _finite(graph, raw, double)
    rounded = graph.cast(graph.cast(features, "FLOAT"), "DOUBLE")
    if plan.n_codes:
        signs = _signs(graph, rounded, plan.coded)
        rounded = graph.node("Concat", rounded, signs, axis=1)
    return rounded, graph.node("And", taken, _finite(graph, rounded, True))


def _finite(graph: OnnxGraph, x: str, double: bool) -> str:
    """Whether a row's numbers are all finite in float32."""
    kind: Any = np.float64 if double else np.float32
    small = graph.node("LessOrEqual", graph.node("Abs", x), graph.constant(np.finfo(np.float32).max, kind))
    return _all(graph, small)


def _all(graph: OnnxGraph, truths: str) -> str:
    least = graph.node("ReduceMin", graph.cast(truths, "INT32"), graph.constant([1], np.int64), keepdims=0)
    return graph.cast(least, "BOOL")


def _signs(graph: OnnxGraph, x: str, coded: list[tuple[int, float]]) -> str:
    """``sgn(x_j - t)`` for places j and thresholds t."""
    values = graph.take(x, [place for place, _ in coded])
    return graph.choose(graph.node("GreaterOrEqual", values, graph.constant([t for _, t in coded])), 1.0, -1.0)


# Arrays
def _array(graph: OnnxGraph, plan: ExportPlan, raw: str, double: bool) -> str:
    """Features of an array, in its own precision, with the steps that NumPy takes."""
    scaling = plan.scaling
    own: Any = np.float64 if double else np.float32
    if isinstance(scaling, StandardMap):
        return graph.node(
            "Div", graph.node("Sub", raw, graph.constant(scaling.mean, own)), graph.constant(scaling.scale, own)
        )
    if isinstance(scaling, MinMaxMap):
        return _minmax(graph, scaling, raw, double)
    if isinstance(scaling, ThermometerMap):
        coded = [(place, t) for place, thresholds in enumerate(scaling.thresholds) for t in thresholds]
        return _signs(graph, graph.cast(raw, "DOUBLE"), coded)
    return raw


def _minmax(graph: OnnxGraph, scaling: MinMaxMap, raw: str, double: bool) -> str:
    x = graph.cast(raw, "DOUBLE")
    for op, values in (("Mul", scaling.scale), ("Add", scaling.shift)):
        x = graph.node(op, x, graph.constant(values))
        x = x if double else graph.cast(graph.cast(x, "FLOAT"), "DOUBLE")
    if scaling.limits is None:
        return x
    limits = [limit if double else float(np.float32(limit)) for limit in scaling.limits]
    return graph.node("Clip", x, *map(graph.constant, limits))


# Tables
def _table(graph: OnnxGraph, plan: ExportPlan, inputs: list[str]) -> tuple[str, str]:
    """Features column after column: those of all numbers at once, then the others, then all in their order."""
    assert plan.columns is not None
    named = list(zip(plan.columns, inputs, strict=True))
    numbers = [(column, x) for column, x in named if isinstance(column, NumericColumn | DateColumn)]
    truths = [(column, x) for column, x in named if isinstance(column, BooleanColumn)]
    blocks: list[str] = []
    places: dict[tuple[str, str], int] = {}

    def add(block: str, keys: list[tuple[str, str]]) -> None:
        start = len(places)
        blocks.append(block)
        places.update({key: start + i for i, key in enumerate(keys)})

    taken = _all(graph, graph.constant([[True]], np.bool_))
    if numbers:
        taken = _add_numbers(graph, numbers, add)
    if truths:
        x = graph.node("Concat", *(x for _, x in truths), axis=1)
        one, zero = (graph.node("Equal", x, graph.constant(value)) for value in (1.0, 0.0))
        signs = graph.node("Where", one, graph.constant(1.0), graph.choose(zero, -1.0, 0.0))
        add(signs, [(column.name, "value") for column, _ in truths])
        gaps = graph.choose(graph.node("Equal", signs, graph.constant(0.0)), 1.0, 0.0)
        add(gaps, [(column.name, "missing") for column, _ in truths])
    for column, x in named:
        if isinstance(column, TextColumn):
            add(_categories(graph, column, x), [(column.name, f"feature {i}") for i in range(len(column.features))])
        elif isinstance(column, WordsColumn):
            add(_words(graph, column, x), [(column.name, f"feature {i}") for i in range(len(column.features))])
    order = [places[key] for column in plan.columns for key in _keys(column)]
    everything = graph.node("Concat", *blocks, axis=1)
    return graph.take(everything, order), taken


def _keys(column: Any) -> list[tuple[str, str]]:
    """The features of a column, by the names that their blocks gave them."""
    if isinstance(column, TextColumn | WordsColumn):
        return [(column.name, f"feature {i}") for i in range(len(column.features))]
    value = isinstance(column, BooleanColumn) or column.scale is not None
    season = isinstance(column, DateColumn) and column.season
    kinds = ["value"] * value + ["sine", "cosine"] * season + ["missing"] * column.indicator
    return [(column.name, kind) for kind in kinds]


def _add_numbers(graph: OnnxGraph, numbers: list[Any], add: Any) -> str:
    """Features of all columns of numbers and dates; whether all numbers of a row are of reasonable size."""
    columns, names = [column for column, _ in numbers], [column.name for column, _ in numbers]
    x = graph.node("Concat", *(x for _, x in numbers), axis=1)
    gap = graph.node("IsNaN", x)
    filled = graph.node("Where", gap, graph.constant([column.fill for column in columns]), x)
    centred = graph.node("Sub", filled, graph.constant([column.mean for column in columns]))
    scaled = graph.node("Div", centred, graph.constant([column.scale or 1.0 for column in columns]))
    add(graph.node("Clip", scaled, graph.constant(-CLIP), graph.constant(CLIP)), [(name, "value") for name in names])
    add(graph.choose(gap, 1.0, 0.0), [(name, "missing") for name in names])
    dates = [place for place, column in enumerate(columns) if isinstance(column, DateColumn) and column.season]
    if dates:
        t, absent = graph.take(x, dates), graph.take(gap, dates)
        turn = graph.node("Mul", graph.constant(2 * np.pi), graph.node("Div", t, graph.constant(YEAR)))
        for op, key in (("Sin", "sine"), ("Cos", "cosine")):
            season = graph.node("Where", absent, graph.constant(0.0), graph.node(op, turn))
            add(season, [(names[place], key) for place in dates])
    small = graph.node("LessOrEqual", graph.node("Abs", filled), graph.constant(LARGEST))
    return _all(graph, small)


_MARKS = sorted({"".join(letters) for mark in BLANK for letters in product(*({c.lower(), c.upper()} for c in mark))})
"""The marks of a missing text in every case of letters."""


def _coded(graph: OnnxGraph, x: str, texts: list[str], codes: list[int], default: int) -> str:
    keys = [text.encode("utf-8", "surrogatepass") for text in texts]
    return graph.node(
        "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=keys, values_int64s=codes, default_int64=default
    )


def _categories(graph: OnnxGraph, column: TextColumn, x: str) -> str:
    """A row of a table for every category, one for what is missing, one for what is new."""
    n, width = len(column.categories), len(column.features)
    other = n if column.rare != () else None
    gap = width - 1 if column.missing else other
    lookup = np.zeros((n + 2, width))
    for row, place in enumerate([*range(n), gap, other]):
        if place is not None:
            lookup[row, place] = 1
    known = {category: place for place, category in enumerate(column.categories)} | dict.fromkeys(_MARKS, n)
    code = _coded(graph, x, list(known), list(known.values()), n + 1)
    return graph.reshape(graph.node("Gather", graph.constant(lookup), code, axis=0), -1, width)


def _words(graph: OnnxGraph, column: WordsColumn, x: str) -> str:
    """Whether the text has each word, by regular expressions (RE2)."""
    graph.opset = 20
    blank = graph.cast(_coded(graph, x, _MARKS, [1] * len(_MARKS), 0), "BOOL")
    present = graph.node("Not", blank)
    found = []
    for word in column.words:
        pattern = f"(?s)(?:.*[^{_LETTER}])?{_any_case(word)}(?:[^{_LETTER}].*)?"
        has = graph.node("And", present, graph.node("RegexFullMatch", x, pattern=pattern))
        found.append(graph.cast(has, "DOUBLE"))
    return graph.node("Concat", *found, *[graph.cast(blank, "DOUBLE")] * column.missing, axis=1)


@cache
def _folded() -> dict[str, str]:
    """For one, two or three small letters, the characters that Python's ``casefold`` makes them of: ß for ss."""
    found: dict[str, str] = {}
    for character in map(chr, range(sys.maxunicode + 1)):
        folded = character.casefold()
        if folded != character:
            found[folded] = found.get(folded, "") + character
    return found


def _any_case(word: str) -> str:
    """A pattern for what ``casefold`` makes this word of."""
    if not word:
        return ""
    ways = [f"[{_class(word[0])}{_class(_folded().get(word[0], ''))}]{_any_case(word[1:])}"]
    for length in (2, 3):
        others = _folded().get(word[:length], "") if len(word) >= length else ""
        ways += [f"[{_class(others)}]{_any_case(word[length:])}"] if others else []
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _class(characters: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in characters)
