"""C without doubles, for processors that only compute in float: the same code, with adjusted thresholds of codes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.export.plan import ExportPlan
from abnet.tables.columns import DateColumn, NumericColumn
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap

__all__ = ["in_single", "least_reaching", "with_single_thresholds"]

_KEPT = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', re.DOTALL)
"""Texts and comments, which stay as they are."""
_NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")
_FUNCTIONS = re.compile(r"\b(sqrt|exp|log|sin|cos|fabs|copysign)\(")


def in_single(code: str) -> str:
    """C code with float in place of double: types, functions of math.h, and numbers.

    Examples
    --------
    >>> in_single('double x = 2.0 * sqrt(y); /* 2.0 */ puts("1.5");')
    'float x = 2.0f * sqrtf(y); /* 2.0 */ puts("1.5");'
    """
    parts, at = [], 0
    for match in _KEPT.finditer(code):
        parts += [_single_code(code[at : match.start()]), match.group()]
        at = match.end()
    return "".join([*parts, _single_code(code[at:])])


def _single_code(code: str) -> str:
    code = re.sub(r"\bdouble\b", "float", code).replace("DBL_MAX", "FLT_MAX")
    code = re.sub(r"\bHUGE_VAL\b", "HUGE_VALF", _FUNCTIONS.sub(r"\1f(", code))
    return _NUMBER.sub(_single_number, code)


def _single_number(match: re.Match[str]) -> str:
    largest = float(np.finfo(np.float32).max)
    return f"{match.group()}f" if float(match.group()) <= largest else "FLT_MAX"


def least_reaching(thresholds: Any) -> NDArray[np.float64]:
    """The least float32 that reaches each threshold: a float32 reaches the one where it reaches the other.

    Examples
    --------
    >>> least = np.float32(least_reaching([0.1])[0])
    >>> bool(least >= 0.1), bool(np.nextafter(least, np.float32(0)) >= 0.1)
    (True, False)
    """
    exact = np.asarray(thresholds, np.float64)
    rounded = exact.astype(np.float32)
    return np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded).astype(np.float64)


# Thresholds of codes


def with_single_thresholds(plan: ExportPlan) -> ExportPlan:
    """The plan with thresholds for features that are computed in float32: values that are float32 get the same codes.

    A feature computed in float32 may differ from the certified one in its last digit, and a value near a threshold
    would then have another code. So each threshold t becomes the float32 feature of the least value whose certified
    feature reaches t.
    """
    if not plan.n_codes:
        return plan
    moved = [
        thresholds if steps is None else tuple(_moved(t, *steps) for t in thresholds)
        for thresholds, steps in zip(plan.thresholds, _features(plan), strict=True)
    ]
    return replace(plan, thresholds=tuple(moved))


Steps = tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]
"""A feature of a float32 value as it is certified, and in float32; its scale and shift, ``(x - shift)/scale``."""


def _features(plan: ExportPlan) -> Iterator[Steps | None]:
    """For every feature how it is computed; None where both ways are one."""
    if plan.columns is not None:
        for column in plan.columns:
            features = len(column.features)
            if isinstance(column, NumericColumn | DateColumn) and column.scale is not None:
                yield _standard(column.mean, column.scale)
                features -= 1
            yield from [None] * features
    elif isinstance(plan.scaling, StandardMap):
        for mean, scale in zip(plan.scaling.mean, plan.scaling.scale, strict=True):
            yield _standard(mean, scale)
    elif isinstance(plan.scaling, MinMaxMap):
        for scale, shift in zip(plan.scaling.scale, plan.scaling.shift, strict=True):
            yield _minmax(scale, shift)
    else:
        yield from [None] * len(plan.thresholds)


def _standard(mean: float, scale: float) -> Steps:
    single = np.float32(mean), np.float32(scale)
    return (
        lambda x: np.float32((float(x) - mean) / scale),
        lambda x: np.float32((x - single[0]) / single[1]),
        scale,
        mean,
    )


def _minmax(scale: float, shift: float) -> Steps:
    single = np.float32(scale), np.float32(shift)
    return (
        lambda x: np.float32(float(x) * scale + shift),
        lambda x: np.float32(np.float32(x * single[0]) + single[1]),
        1 / scale,
        -shift / scale,
    )


def _moved(threshold: float, certified: Any, single: Any, scale: float, shift: float) -> float:
    x = np.float32(threshold * scale + shift)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    for _ in range(1000):  # the start is a few floats off
        if certified(x) < threshold:
            x = np.nextafter(x, up)
        elif certified(np.nextafter(x, down)) >= threshold:
            x = np.nextafter(x, down)
        else:
            return float(single(x))
    return threshold
