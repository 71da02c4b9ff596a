"""The predictor written from docs/model-format.md alone: Python's own numbers, no array library, nothing of abnet."""

import json
import re
import struct
from datetime import date
from fractions import Fraction
from itertools import product
from math import cos, erf, exp, inf, isfinite, isnan, log, nan, pi, sin, sqrt
from pathlib import Path
from typing import Any

VECTORS = json.loads((Path(__file__).parents[2] / "docs" / "model-format-vectors.json").read_text("utf-8"))
GRAMMAR = VECTORS["grammar"]
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
    text = cell.strip()
    small = cell.strip().lower()
    kind = column["kind"]
    if kind == "numeric":
        return scaled(number(text, column["form"]), column)
    if kind == "date":
        t = days(text, column["order"])
        turn = 2 * pi * (t / 365.2425)
        if isnan(t):
            season = [0.0, 0.0]
        else:
            season = [sin(turn), cos(turn)]
        value, *missing = scaled(t, column)
        return [value, *(season if column["season"] else []), *missing]
    if kind == "boolean":
        sign = TRUTH.get(small, 0.0)
        return [sign] + [float(sign == 0)] * column["indicator"]
    if kind == "text":
        known = column["categories"]
        other = []
        if column["rare"] != []:
            other = [float(small not in BLANK and text not in known)]
        found = [float(small not in BLANK and text == category) for category in known]
        if small in BLANK and other and not column["missing"]:
            other = [1.0]
        return found + other + [float(small in BLANK)] * column["missing"]
    if kind == "hashed":
        if small not in BLANK:
            filled = {crc32(token.encode()) % column["buckets"] for token in tokens(text)}
        else:
            filled = set()
        return [float(k in filled) for k in range(column["buckets"])] + [float(small in BLANK)] * column["missing"]
    if small not in BLANK:
        words = set(re.findall(GRAMMAR["word"], text.casefold()))
    else:
        words = set()
    return [float(word in words) for word in column["words"]] + [float(small in BLANK)] * column["missing"]


def tokens(text: str) -> list[str]:
    """Words, and all triples of characters."""
    plain = re.sub(GRAMMAR["digit"], "0", re.sub(r"\s+", " ", text.casefold()))
    return re.findall(GRAMMAR["word"], plain) + [f" {plain} "[i : i + 3] for i in range(len(plain))]


def crc32(content: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def scaled(x: float, column: dict[str, Any]) -> list[float]:
    value = ((column["fill"] if isnan(x) else x) - column["mean"]) / (column["scale"] or 1)
    kept = [] if column["scale"] is None else [min(max(value, -1e6), 1e6)]
    return kept + [float(isnan(x))] * column["indicator"]


def number(text: str, form: dict[str, Any]) -> float:
    if text.lower() in NO_NUMBER:
        return nan
    plain = written(text, form)
    if plain is None:
        return nan
    if form["offset"] and isfinite(float(plain)):
        x = float(Fraction(plain) - form["offset"])
    else:
        x = float(plain)
    if abs(x) <= GRAMMAR["largest"]:
        return x
    return nan


def written(text: str, form: dict[str, Any]) -> str | None:
    """The number as most programming languages write it."""
    if form["duration"]:
        return seconds(text)
    if form["limits"]:
        text = re.sub(GRAMMAR["limit"], "", text)
    if form["brackets"] and (match := re.fullmatch(GRAMMAR["brackets"], text)):
        text = "-" + "".join(match.groups())
    marked = form["limits"] or form["brackets"]
    if not marked and form == form | {"decimal": ".", "thousands": "", "before": "", "after": ""}:
        if re.fullmatch(GRAMMAR["plain_number"], text, re.IGNORECASE):
            return text
        return None
    known = next(
        n for n in GRAMMAR["numbers"] if (n["decimal"], n["thousands"]) == (form["decimal"], form["thousands"])
    )
    pattern = known["pattern"]
    for place in ("before", "after"):
        pattern = pattern.replace(place.upper(), re.escape(form[place]))
    match = re.fullmatch(pattern, text)
    if match is None or (match[1] and match[2]):
        return None
    if known["mark"]:
        digits = re.sub(known["mark"], "", match[3])
    else:
        digits = match[3]
    return match[1] + match[2] + digits.replace(form["decimal"], ".")


def seconds(text: str) -> str | None:
    clock, parts = (re.fullmatch(pattern, text, re.IGNORECASE) for pattern in GRAMMAR["durations"])
    if clock:
        sign = clock[1]
        numbers = [clock[2], clock[3], clock[4], (clock[5] or "0").replace(",", ".")]
    elif parts and any(parts.groups()):
        sign = ""
        numbers = list(parts.groups())
    else:
        return None
    units = GRAMMAR["duration_seconds"]
    total = sum(unit * Fraction(number or 0) for unit, number in zip(units, numbers, strict=True))
    return sign + repr(float(total))


def days(text: str, order: str) -> float:
    if len(text) > GRAMMAR["longest_date"] or not text.isascii() or sum(map(str.isdigit, text)) < 3:
        return nan
    for name, pattern in GRAMMAR["dates"].items():
        if match := re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE):
            return day(name, {key: value for key, value in match.groupdict().items() if value}, order)
    return nan


def day(name: str, part: dict[str, str], order: str) -> float:
    """Days of the parts of a date, NaN where there is no such day or time."""
    if "name" in part:
        known = [i for i, month in enumerate(GRAMMAR["months"], 1) if month.startswith(part["name"].lower())]
        month = (known or [0])[0]
        number = int(part.get("day", 1))
    elif "first" in part:
        if order == "year-month-day":
            return nan
        month = int(part["first"])
        number = int(part["other"])
        month, number = (number, month) if order == "day/month/year" else (month, number)
    else:
        month = int(part["month"])
        number = int(part.get("day", 1))
    if "year" in part:
        year = int(part["year"])
    else:
        year = int(part["short"]) + (2000 if int(part["short"]) <= 68 else 1900)
    hour, minute, second, ahead, minutes = (
        int(part.get(key, 0)) for key in ("hour", "minute", "second", "zone_hour", "zone_minute")
    )
    if "half" in part:
        if 1 <= hour <= 12:
            hour = hour % 12 + 12 * (part["half"].upper() == "P")
        else:
            hour = 99
    if hour > 23 or minute > 59 or second > 59 or ahead > 15 or minutes > 59:
        return nan
    zone = (60 * ahead + minutes) * (-1 if part.get("sign") == "-" else 1)
    micro = int(part.get("fraction", "0").ljust(9, "0")) // 1000
    try:
        whole = (date(year, month, number) - date(1970, 1, 1)).days
    except ValueError:
        return nan
    return float((((whole * 24 + hour) * 60 + minute - zone) * 60 + second + Fraction(micro, 10**6)) / 86400)


# Networks


def scores(config: dict[str, Any], arrays: dict[str, Any], x: list[float]) -> list[float]:
    """One score for two classes, or one for each of several."""
    kind = config["kind"]
    words = arrays.get("words", [])
    if kind == "layers":
        for k in range(1, sum(name.startswith("weights_") for name in arrays) + 1):
            a = sums(arrays[f"weights_{k}"], [0.0] * len(arrays[f"weights_{k}"]), x)
            edges = zip(a, arrays[f"flips_{k}"], arrays[f"thresholds_{k}"], strict=True)
            x = [1.0 if flip * z >= threshold else -1.0 for z, flip, threshold in edges]
        return [float(k == nearest(words, x)) for k in range(len(words))] or x
    if kind == "paths":
        return mean_of_paths(words, arrays, x)
    if kind == "moments":
        return mean_by_moments(words, arrays, x)
    tables = [[value if isinstance(value, list) else [value] for value in H] for H in arrays["H"]]
    members = [expected(W, b, H, x) for W, b, H in zip(arrays["W"], arrays["b"], tables, strict=True)]
    return [sum(column) / len(members) for column in zip(*members, strict=True)]


def mean_of_paths(words: list[list[int]], arrays: dict[str, Any], x: list[float]) -> list[float]:
    """Mean over members m and paths t; the last layer's means are decoded for several classes."""
    depth = sum(name.startswith("W_") for name in arrays)
    outputs = []
    for m in range(len(arrays["W_1"])):
        for t in range(len(arrays["noise_1"][m])):
            s: list[float] = x
            for k in range(1, depth):
                z = layer(arrays, k, m, s)
                s = [1.0 if value + e >= 0 else -1.0 for value, e in zip(z, arrays[f"noise_{k}"][m][t], strict=True)]
            means = [erf(value / sqrt(2)) for value in layer(arrays, depth, m, s)]
            outputs.append(decoded(means, words) if words else means)
    return [sum(column) / len(outputs) for column in zip(*outputs, strict=True)]


def mean_by_moments(words: list[list[int]], arrays: dict[str, Any], x: list[float]) -> list[float]:
    """Mean over members m of their last layer's means, decoded for several classes."""
    outputs = []
    for m in range(len(arrays["W_1"])):
        v = [erf(z / sqrt(2)) for z in layer(arrays, 1, m, x)]
        for k in range(2, sum(name.startswith("W_") for name in arrays) + 1):
            left = [1 - value * value for value in v]
            spread = [sum(w * w * q for w, q in zip(row, left, strict=True)) for row in arrays[f"W_{k}"][m]]
            totals = sums(arrays[f"W_{k}"][m], arrays[f"b_{k}"][m], v)
            least = len(v) + 1 + arrays["e"][0]
            v = [erf(total / sqrt(2 * (least + s))) for total, s in zip(totals, spread, strict=True)]
        outputs.append(decoded(v, words) if words else v)
    return [sum(column) / len(outputs) for column in zip(*outputs, strict=True)]


def layer(arrays: dict[str, Any], k: int, m: int, s: list[float]) -> list[float]:
    root = sqrt(sum(v * v for v in s) + 1)
    return [z / root for z in sums(arrays[f"W_{k}"][m], arrays[f"b_{k}"][m], s)]


def nearest(words: list[list[int]], s: Any) -> int:
    products = [sum(a * b for a, b in zip(word, s, strict=True)) for word in words]
    return products.index(max(products))


def decoded(means: list[float], words: list[list[int]]) -> list[float]:
    shares = [0.0] * len(words)
    for s in product((-1, 1), repeat=len(means)):
        p = 1.0
        for sign, m in zip(s, means, strict=True):
            p *= (1 + sign * m) / 2
        shares[nearest(words, s)] += p
    return shares


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


def code(found: list[float], decision: dict[str, Any]) -> int | None:
    """The answer by the decision; None for no answer."""
    if decision["kind"] == "cut":
        positive: int = decision["positive"]
        if (found[0] if positive else -found[0]) > decision["threshold"]:
            return positive
        return 1 - positive
    if len(found) == 1:
        sure = abs(found[0])
    else:
        sure = max(found)
    if decision["kind"] == "abstain" and not sure > decision["threshold"]:
        return None
    if len(found) == 1:
        return int(found[0] >= 0)
    return found.index(max(found))


def probabilities(found: list[float], calibration: dict[str, float] | None) -> list[float]:
    shares = found
    if len(found) == 1:
        shares = [(1 - found[0]) / 2, (1 + found[0]) / 2]
    if calibration is None:
        return shares
    logits = [calibration["power"] * log(share + calibration["floor"]) for share in shares]
    odds = [exp(value - max(logits)) for value in logits]
    return [value / sum(odds) for value in odds]
