"""The bounds that a statement may rest on, by name: what a stored promise is recomputed with.

A bound becomes available to statements by ``@method``, in any file of this folder. It takes what was counted as
keyword arguments, `delta` and `n_candidates`, and returns a float, or None if it proves nothing. A bound that needs
every value in its order, as betting does, names that argument and the range in which its result must lie when the
values are no longer at hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["METHODS", "Method", "method"]

Bound = Callable[..., float | None]
Range = Callable[..., tuple[float, float]]


@dataclass(frozen=True)
class Method:
    """A bound, and how much of it can be checked later.

    Attributes
    ----------
    bound : callable
        ``bound(**counted, delta=..., n_candidates=...)``.
    values : str or None
        The argument that holds all values in their order and is not stored.
    attainable : callable or None
        From what is stored of these values (``n``, ``mean``), `delta` and `n_candidates` to the smallest and the
        largest result that any values with these figures could have.
    """

    bound: Bound
    values: str | None = None
    attainable: Range | None = None


METHODS: dict[str, Method] = {}
"""Every bound that statements may name."""


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

    return register if bound is None else register(bound)
