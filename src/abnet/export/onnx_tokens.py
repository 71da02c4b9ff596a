"""Hashed text in ONNX: from a text to its characters, tokens and their CRC-32, in whole numbers."""

import re
import sys
import unicodedata
import zlib
from functools import cache
from typing import Any

import numpy as np

from abnet.export.onnx_graph import OnnxGraph

__all__ = ["hashed_features"]

_LAST = 0x3FFFF
"""Beyond it there are no letters and no case: a text with such a character is marked as not valid."""
_LETTER = 2**19
_PLACE = 2**20
"""A character is a number ``code + 1``, and ``_LETTER`` more for a letter; 0 is none. Three of them make one number."""
_START = 0xFFFFFFFF
_TABLE = [zlib.crc32(bytes([byte]), _START) ^ 0xFFFFFFFF for byte in range(256)]
"""What a byte adds to an empty register."""


@cache
def _alphabet() -> tuple[tuple[bytes, ...], tuple[int, ...]]:
    """Every assigned character in UTF-8, and what it becomes: folded, its digits 0, its blanks a space."""
    letter = re.compile(r"[^\W\d_]")

    def number(character: str) -> int:
        plain = " " if character.isspace() else "0" if character.isdecimal() else character
        return ord(plain) + 1 + _LETTER * bool(letter.match(plain))

    keys, values = [b""], [0]
    for character in map(chr, range(min(sys.maxunicode, _LAST) + 1)):
        if unicodedata.category(character) not in ("Cn", "Co", "Cs"):
            keys.append(character.encode())
            values.append(sum(number(c) * _PLACE**k for k, c in enumerate(character.casefold())))
    return tuple(keys), tuple(values)


def hashed_features(graph: OnnxGraph, x: str, buckets: int) -> tuple[str, str]:
    """For texts (N, 1), 1 in the bucket of every token, (N, buckets), and whether all characters are known, (N,).

    A blank text has the bucket of its blanks; the caller knows better.
    """
    graph.opset = 20
    units, known = _characters(graph, x)
    letter = graph.node("GreaterOrEqual", units, _whole(graph, _LETTER))
    code = _at_least(graph, graph.node("Sub", graph.node("Mod", units, _whole(graph, _LETTER)), _whole(graph, 1)), 0)
    encoded = _utf8(graph, code)
    none = _whole(graph, buckets)
    triples = _whole(graph, _START)
    for start, end in ((0, -2), (1, -1), (2, sys.maxsize)):
        triples = _step(graph, triples, [_slice(graph, part, start, end) for part in encoded])
    third = graph.node("Greater", _slice(graph, units, 2, sys.maxsize), _whole(graph, 0))
    triples = graph.node("Where", third, _bucket(graph, triples, buckets), none)
    before, behind = _neighbours(graph, letter)
    goes_on = graph.node("And", letter, before)
    ends = graph.node("And", goes_on, graph.node("Not", behind))
    words = graph.node("Where", ends, _bucket(graph, _running(graph, goes_on, encoded), buckets), none)
    places = graph.node("Concat", triples, words, axis=1)
    rows = graph.node("Shape", x, start=0, end=1)
    empty = graph.node("Expand", graph.constant(0.0), _shape(graph, rows, buckets + 1))
    ones = graph.node("Expand", graph.constant(1.0), graph.node("Shape", places))
    filled = graph.node("ScatterElements", empty, places, ones, axis=1)
    return graph.take(filled, range(buckets)), known


def _whole(graph: OnnxGraph, value: Any) -> str:
    return graph.constant(value, np.int64)


def _shape(graph: OnnxGraph, rows: str, columns: int) -> str:
    return graph.node("Concat", rows, _whole(graph, [columns]), axis=0)


def _at_least(graph: OnnxGraph, x: str, least: int) -> str:
    return graph.node("Max", x, _whole(graph, least))


def _slice(graph: OnnxGraph, x: str, start: int, end: int) -> str:
    """Columns from start to end."""
    return graph.node("Slice", x, *(_whole(graph, [value]) for value in (start, end, 1)))


def _neighbours(graph: OnnxGraph, truths: str) -> tuple[str, str]:
    """Truths (N, M) of the place before and of the place behind, False beyond the ends."""
    first = _slice(graph, truths, 0, 1)
    edge = graph.node("And", first, graph.node("Not", first))
    before = graph.node("Concat", edge, _slice(graph, truths, 0, -1), axis=1)
    return before, graph.node("Concat", _slice(graph, truths, 1, sys.maxsize), edge, axis=1)


def _characters(graph: OnnxGraph, x: str) -> tuple[str, str]:
    """Characters (N, M) with one space at either end and between words, two zeros or more behind; whether all known."""
    space = graph.constant([" "], object)
    padded = graph.node("StringConcat", graph.node("StringConcat", space, x), space)
    single = graph.node(
        "Tokenizer", padded, domain="com.microsoft", mark=0, mincharnum=1, pad_value="", separators=[""]
    )
    keys, values = _alphabet()
    packed = graph.node(
        "LabelEncoder", graph.node("Squeeze", single, _whole(graph, [1])), domain="ai.onnx.ml",
        keys_strings=keys, values_int64s=values, default_int64=-1,
    )  # fmt: skip
    known = graph.cast(
        graph.node(
            "ReduceMin",
            _at_least(graph, graph.node("Add", packed, _whole(graph, 1)), 0),
            _whole(graph, [1]),
            keepdims=0,
        ),
        "BOOL",
    )
    packed = _at_least(graph, packed, 0)
    blank = graph.node("Equal", packed, _whole(graph, ord(" ") + 1))
    again = graph.node("And", blank, _neighbours(graph, blank)[0])
    packed = graph.node("Where", again, _whole(graph, 0), packed)
    parts = []
    for k in range(3):
        shifted = graph.node("Div", packed, _whole(graph, _PLACE**k)) if k else packed
        part = graph.node("Mod", shifted, _whole(graph, _PLACE))
        parts.append(graph.node("Unsqueeze", part, _whole(graph, [2])))
    units = graph.node("Flatten", graph.node("Concat", *parts, axis=2), axis=1)
    # Moved together: every character to the place that its number among those that are there gives it.
    there = graph.node("Greater", units, _whole(graph, 0))
    count = graph.node("CumSum", graph.cast(there, "INT64"), _whole(graph, 1))
    width = graph.node("Shape", units, start=1, end=2)
    place = graph.node(
        "Where", there, graph.node("Sub", count, _whole(graph, 1)), graph.node("Add", width, _whole(graph, 2))
    )
    rows = graph.node("Shape", units, start=0, end=1)
    size = graph.node("Concat", rows, graph.node("Add", width, _whole(graph, [3])), axis=0)
    moved = graph.node("ScatterElements", graph.node("Expand", _whole(graph, 0), size), place, units, axis=1)
    longest = graph.reshape(graph.node("ReduceMax", count, keepdims=0), 1)
    end = graph.node("Add", longest, _whole(graph, [2]))
    return graph.node("Slice", moved, _whole(graph, [0]), end, _whole(graph, [1])), known


def _utf8(graph: OnnxGraph, code: str) -> list[str]:
    """The bytes of characters, four tensors, and whether there is a second, a third and a fourth."""
    more = [graph.node("GreaterOrEqual", code, _whole(graph, first)) for first in (0x80, 0x800, 0x10000)]
    count = graph.cast(more[0], "INT64")
    for truth in more[1:]:
        count = graph.node("Add", count, graph.cast(truth, "INT64"))
    parts = []
    for place in range(4):
        powers = _whole(graph, [64 ** max(n - place, 0) for n in range(4)])
        digit = graph.node("Div", code, graph.node("Gather", powers, count))
        if place:
            digit = graph.node("Add", graph.node("Mod", digit, _whole(graph, 64)), _whole(graph, 0x80))
        else:
            digit = graph.node("Add", digit, graph.node("Gather", _whole(graph, [0, 0xC0, 0xE0, 0xF0]), count))
        parts.append(digit)
    return [*parts, *more]


def _step(graph: OnnxGraph, register: str, encoded: list[str]) -> str:
    """The register of a CRC-32 after one more character, given by `_utf8`."""
    for place, byte in enumerate(encoded[:4]):
        mixed = graph.node("BitwiseXor", register, byte)
        low = graph.node("BitwiseAnd", mixed, _whole(graph, 0xFF))
        after = graph.node(
            "BitwiseXor",
            graph.node("Gather", _whole(graph, _TABLE), low),
            graph.node("Div", register, _whole(graph, 256)),
        )
        register = graph.node("Where", encoded[3 + place], after, register) if place else after
    return register


def _bucket(graph: OnnxGraph, register: str, buckets: int) -> str:
    return graph.node("Mod", graph.node("BitwiseXor", register, _whole(graph, 0xFFFFFFFF)), _whole(graph, buckets))


def _running(graph: OnnxGraph, goes_on: str, encoded: list[str]) -> str:
    """The register at each character of a word (N, M), from its start, by a loop over the characters."""
    onnx, outside = graph.onnx, [goes_on, *encoded]
    whole, truth = onnx.TensorProto.INT64, onnx.TensorProto.BOOL
    kinds = [whole, truth, *[whole] * 4, *[truth] * 3]
    names = [graph.fresh("now") for _ in outside]
    state, after, given = graph.fresh("state"), graph.fresh("after"), graph.fresh("given")
    with graph.body() as nodes:
        begun = graph.node("Where", names[0], state, _whole(graph, _START))
        found = _step(graph, begun, names[1:])
        graph.node("Identity", found, out=after)
        graph.node("Identity", found, out=given)
    describe = onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        nodes, "characters",
        [describe(name, kind, ["N"]) for name, kind in zip([state, *names], kinds, strict=True)],
        [describe(name, whole, ["N"]) for name in (after, given)],
    )  # fmt: skip
    rows = graph.node("Shape", goes_on, start=0, end=1)
    first = graph.node("Expand", _whole(graph, _START), rows)
    last, running = graph.fresh("last"), graph.fresh("running")
    graph.nodes.append(
        onnx.helper.make_node(
            "Scan",
            [first, *outside],
            [last, running],
            body=body,
            num_scan_inputs=len(outside),
            scan_input_axes=[1] * len(outside),
            scan_output_axes=[1],
        )
    )
    return running
