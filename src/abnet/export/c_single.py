"""C without doubles, for processors that only compute in float: the same code, with adjusted thresholds of codes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.export.export_plan import ExportPlan
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
    parts = []
    end = 0
    for match in _KEPT.finditer(code):
        parts.append(_single_code(code[end : match.start()]))
        parts.append(match.group())
        end = match.end()
    parts.append(_single_code(code[end:]))
    return "".join(parts)


def _single_code(code: str) -> str:
    code = re.sub(r"\bdouble\b", "float", code)
    code = code.replace("DBL_MAX", "FLT_MAX")
    code = _FUNCTIONS.sub(r"\1f(", code)
    code = re.sub(r"\bHUGE_VAL\b", "HUGE_VALF", code)
    return _NUMBER.sub(_single_number, code)


def _single_number(match: re.Match[str]) -> str:
    if float(match.group()) > float(np.finfo(np.float32).max):
        return "FLT_MAX"
    return f"{match.group()}f"


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
    adjusted = []
    for thresholds, scaled in zip(plan.thresholds, _features(plan), strict=True):
        if scaled is None:
            adjusted.append(thresholds)
        else:
            adjusted.append(tuple(_adjusted(threshold, scaled) for threshold in thresholds))
    return replace(plan, thresholds=tuple(adjusted))


@dataclass(frozen=True)
class _ScaledFeature:
    """The two ways to compute a feature ``(x - shift)/scale`` of a float32 value x.

    Attributes
    ----------
    certified, single : callable
        In float64 and then rounded, as it is certified; and in float32.
    scale, shift : float
    """

    certified: Callable[[Any], Any]
    single: Callable[[Any], Any]
    scale: float
    shift: float


def _features(plan: ExportPlan) -> Iterator[_ScaledFeature | None]:
    """How each feature is computed; None where both ways give the same number."""
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


def _standard(mean: float, scale: float) -> _ScaledFeature:
    single_mean = np.float32(mean)
    single_scale = np.float32(scale)
    return _ScaledFeature(
        certified=lambda x: np.float32((float(x) - mean) / scale),
        single=lambda x: np.float32((x - single_mean) / single_scale),
        scale=scale,
        shift=mean,
    )


def _minmax(scale: float, shift: float) -> _ScaledFeature:
    single_scale = np.float32(scale)
    single_shift = np.float32(shift)
    return _ScaledFeature(
        certified=lambda x: np.float32(float(x) * scale + shift),
        single=lambda x: np.float32(np.float32(x * single_scale) + single_shift),
        scale=1 / scale,
        shift=-shift / scale,
    )


def _adjusted(threshold: float, feature: _ScaledFeature) -> float:
    """The float32 feature of the least value whose certified feature reaches the threshold."""
    x = np.float32(threshold * feature.scale + feature.shift)
    # The start is a few floats off; a value for which 1,000 steps are not enough lies beyond float32.
    for _ in range(1000):
        below = np.nextafter(x, np.float32(-np.inf))
        if feature.certified(x) < threshold:
            x = np.nextafter(x, np.float32(np.inf))
        elif feature.certified(below) >= threshold:
            x = below
        else:
            return float(feature.single(x))
    return threshold
