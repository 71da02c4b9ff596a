"""The registry of bounds that statements use, by name; stored statements are recomputed with it.

``@method`` registers a bound, in any file of this folder. The bound takes the counts as keyword arguments, `delta` and
`n_candidates`, and returns a float, or None if it proves nothing. A bound that needs every single value in order, such
as betting, declares the name of that argument, and a function for the range of its result when the values are not
stored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["METHODS", "Method", "method"]

Bound = Callable[..., float | None]
Range = Callable[..., tuple[float, float]]


@dataclass(frozen=True)
class Method:
    """A registered bound, and how its result can be checked later.

    Attributes
    ----------
    bound : callable
        ``bound(**counted, delta=..., n_candidates=...)``.
    values : str or None
        Name of the argument that holds all values in order and is not stored.
    attainable : callable or None
        Function of the stored ``n`` and ``mean`` of these values, `delta` and `n_candidates`. Returns the smallest and
        the largest possible bound.
    """

    bound: Bound
    values: str | None = None
    attainable: Range | None = None


METHODS: dict[str, Method] = {}
"""All registered bounds, by name."""


def method(bound: Bound | None = None, *, values: str | None = None, attainable: Range | None = None) -> Any:
    """Register a bound under its own name; a decorator, with or without arguments.

    Examples
    --------
    >>> @method
    ... def no_better_than_seen(errors: int, n: int, delta: float, n_candidates: int = 1) -> float:
    ...     return errors / n  # an example: no theorem promises this
    >>> METHODS.pop("no_better_than_seen").bound(errors=1, n=4, delta=0.05)
    0.25
    """

    def register(function: Bound) -> Bound:
        METHODS[function.__name__] = Method(function, values, attainable)
        return function

    if bound is None:  # used as @method(...), with arguments
        return register
    return register(bound)
