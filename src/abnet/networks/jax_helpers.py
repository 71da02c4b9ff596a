"""Shared JAX code: random numbers that compile fast, and Adam."""

from math import prod
from typing import Any

__all__ = ["ADAM", "uniform"]


def uniform(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """`jax.random.uniform` on [0, 1): the same numbers, drawn as a vector and reshaped.

    On a CPU, XLA takes seconds to compile random arrays with several axes, and half a second for a vector.

    Examples
    --------
    >>> import jax
    >>> key = jax.random.key(0)
    >>> bool((uniform(key, (3, 4), "float32") == jax.random.uniform(key, (3, 4))).all())
    True
    """
    import jax

    # float32 for arrays of NumPy in float64, unless JAX computes in float64 too: JAX would warn of it.
    precision = jax.dtypes.canonicalize_dtype(dtype)
    return jax.random.uniform(key, (prod(shape),), precision).reshape(shape)


ADAM: Any
"""Directions of Adam with decay rates .9 and .999 and ε = 1e-8 (Kingma and Ba 2015); the caller scales them.

The moments are one flat vector, because the cost of narrow networks is the number of operations (784-4-4-1, batch 100,
four settings side by side: a step takes 0.17 ms instead of 0.26 ms with a tree of moments).
"""


def __getattr__(name: str) -> Any:
    # Made when first asked for: prediction by sampled paths shares this file, and optax imports JAX.
    if name != "ADAM":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import optax

    globals()[name] = optax.flatten(optax.scale_by_adam())
    return globals()[name]
