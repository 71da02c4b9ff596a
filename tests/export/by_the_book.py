"""The predictor written from docs/model-format.md alone: Python's own numbers, no array library, nothing of abnet."""

import json
import re
import struct
from datetime import datetime
from itertools import product
from math import cos, erf, exp, inf, isnan, log, nan, pi, sin, sqrt
from pathlib import Path
from typing import Any

GRAMMAR = json.loads((Path(__file__).parents[2] / "docs" / "model-format-vectors.json").read_text("utf-8"))["grammar"]
BLANK = set(GRAMMAR["blank"])
NO_NUMBER = BLANK | set(GRAMMAR["doubtful"]) | set(GRAMMAR["gaps"])
TRUTH = dict.fromkeys(GRAMMAR["true"], 1.0) | dict.fromkeys(GRAMMAR["false"], -1.0)


def single(x: float) -> float:
    """Rounded to float32."""
    return float(struct.unpack("f", struct.pack("f", x))[0])


# Preparation


def prepared(record: Any, row: list[Any]) -> list[float]:
    """Features of a row, before the rounding to float32."""
    if record is None:
        return row
    kind = record["kind"]
    if kind == "standard":
        return [(x - m) / s for x, m, s in zip(row, record["mean"], record["scale"], strict=True)]
    if kind == "minmax":
        low, high = record["limits"] or (-inf, inf)
        scaled = (x * s + t for x, s, t in zip(row, record["scale"], record["shift"], strict=True))
        return [min(max(x, low), high) for x in scaled]
    if kind == "thermometer":
        return signs(row, record["thresholds"])
    if kind == "coded":
        base = [single(x) for x in prepared(record["base"], row)]
        return base + signs(base, record["thresholds"])
    assert kind == "table"
    return [feature for column, cell in zip(record["columns"], row, strict=True) for feature in encoded(column, cell)]


def signs(row: list[float], thresholds: list[list[float]]) -> list[float]:
    return [1.0 if x >= t else -1.0 for x, ts in zip(row, thresholds, strict=True) for t in ts]


def encoded(column: dict[str, Any], cell: str) -> list[float]:
    text, small, kind = cell.strip(), cell.strip().lower(), column["kind"]
    if kind == "numeric":
        return scaled(number(text, column["form"]), column)
    if kind == "date":
        t = days(text)
        turn = 2 * pi * (t / 365.2425)
        season = [0.0, 0.0] if isnan(t) else [sin(turn), cos(turn)]
        value, *missing = scaled(t, column)
        return [value, *(season if column["season"] else []), *missing]
    if kind == "boolean":
        sign = TRUTH.get(small, 0.0)
        return [sign] + [float(sign == 0)] * column["indicator"]
    if kind == "text":
        known = column["categories"]
        other = [float(small not in BLANK and text not in known)] if column["rare"] != [] else []
        found = [float(small not in BLANK and text == category) for category in known]
        if small in BLANK and other and not column["missing"]:
            other = [1.0]
        return found + other + [float(small in BLANK)] * column["missing"]
    words = set(re.findall(GRAMMAR["word"], text.casefold())) if small not in BLANK else set()
    return [float(word in words) for word in column["words"]] + [float(small in BLANK)] * column["missing"]


def scaled(x: float, column: dict[str, Any]) -> list[float]:
    value = ((column["fill"] if isnan(x) else x) - column["mean"]) / (column["scale"] or 1)
    kept = [] if column["scale"] is None else [min(max(value, -1e6), 1e6)]
    return kept + [float(isnan(x))] * column["indicator"]


def number(text: str, form: dict[str, Any]) -> float:
    if text.lower() in NO_NUMBER:
        return nan
    plain = text.replace(form["before"], "").replace(form["after"], "").replace(" ", "")
    plain = plain.replace(form["thousands"], "") if form["thousands"] else plain
    return float(plain.replace(form["decimal"], ".")) - form["offset"]


def days(text: str) -> float:
    try:
        return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds() / 86400
    except ValueError:
        return nan


# Networks


def scores(kind: str, arrays: dict[str, Any], x: list[float]) -> list[float]:
    """One score for two classes, or one for each of several."""
    if kind == "drawn network":
        depth = sum(name.startswith("W_") for name in arrays)
        for k in range(1, depth + 1):
            x = [1.0 if z >= 0 else -1.0 for z in sums(arrays[f"W_{k}"], arrays[f"b_{k}"], x)]
        return x
    if kind == "compact MAP":
        place = int("".join("1" if z >= 0 else "0" for z in sums(arrays["W"], arrays["b"], x)), 2)
        return [1.0 if arrays["bits"][place // 8] >> (7 - place % 8) & 1 else -1.0]
    if kind == "compact ABNet":
        return expected(arrays["W"], arrays["b"], [[value] for value in arrays["H"]], x)
    tables = [[value if isinstance(value, list) else [value] for value in H] for H in arrays["H"]]
    members = [expected(W, b, H, x) for W, b, H in zip(arrays["W"], arrays["b"], tables, strict=True)]
    return [sum(column) / len(members) for column in zip(*members, strict=True)]


def sums(W: Any, b: Any, x: list[float]) -> list[float]:
    return [sum(w * v for w, v in zip(row, x, strict=True)) + bias for row, bias in zip(W, b, strict=True)]


def expected(W: Any, b: Any, H: list[list[float]], x: list[float]) -> list[float]:
    """``Σ_s H[s] Π_i (1 + s_i m_i)/2``; the first coordinate of s changes slowest, -1 comes before +1."""
    root = sqrt(2 * (sum(v * v for v in x) + 1))
    means = [erf(z / root) for z in sums(W, b, x)]
    total = [0.0] * len(H[0])
    for s, row in zip(product((-1, 1), repeat=len(means)), H, strict=True):
        p = 1.0
        for sign, m in zip(s, means, strict=True):
            p *= (1 + sign * m) / 2
        total = [t + p * h for t, h in zip(total, row, strict=True)]
    return total


# Labels and probabilities


def code(found: list[float]) -> int:
    return int(found[0] >= 0) if len(found) == 1 else found.index(max(found))


def probabilities(found: list[float], calibration: dict[str, float] | None) -> list[float]:
    shares = [(1 - found[0]) / 2, (1 + found[0]) / 2] if len(found) == 1 else found
    if calibration is None:
        return shares
    logits = [calibration["power"] * log(share + calibration["floor"]) for share in shares]
    odds = [exp(value - max(logits)) for value in logits]
    return [value / sum(odds) for value in odds]
