"""Let bounds of plain numbers take arrays: the function is called for every entry of the broadcast arrays."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["OverArrays", "over_arrays"]

P = ParamSpec("P")


class OverArrays(Protocol[P]):
    """A bound that takes plain numbers or arrays."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> float: ...

    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> NDArray[np.float64]: ...


def over_arrays(bound: Callable[P, float]) -> OverArrays[P]:
    """Let a bound take arrays: array arguments with at least one axis are broadcast, and the result is an array.

    With plain numbers the result is a plain number. Every entry is computed by the same code, so it is rounded outward
    like a single bound.

    Examples
    --------
    >>> @over_arrays
    ... def half(x: float, *, plus: float = 0.0) -> float:
    ...     return x / 2 + plus
    >>> half(3.0), half(np.array([1.0, 2.0]), plus=np.array([[0.0], [1.0]])).tolist()
    (1.5, [[0.5, 1.0], [1.5, 2.0]])
    """

    @wraps(bound)
    def anywhere(*args: Any, **kwargs: Any) -> float | NDArray[np.float64]:
        given = (*args, *kwargs.values())
        grids = [place for place, value in enumerate(given) if isinstance(value, np.ndarray) and value.ndim]
        if not grids:
            return bound(*args, **kwargs)
        spread = np.broadcast(*(given[place] for place in grids))
        values = np.empty(spread.shape)
        for index, entries in enumerate(spread):
            one = list(given)
            for place, entry in zip(grids, entries, strict=True):
                one[place] = entry
            named = dict(zip(kwargs, one[len(args) :], strict=True))
            values.flat[index] = bound(*one[: len(args)], **named)
        return values

    return cast(OverArrays[P], anywhere)
