"""Shapes in annotations: ``Float[Any, "rows d"]`` is an array of floats with these axes, of NumPy or of JAX.

They serve as documentation. The tests import jaxtyping, and beartype then checks every call; otherwise annotations are
not evaluated and cost nothing.
"""

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["Answers", "Float", "Key", "Lifted", "Losses", "Matrices", "Table"]

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Float
else:

    class Float:
        """Placeholder for `jaxtyping.Float`."""

        def __class_getitem__(cls, axes: Any) -> Any:
            return Any


Matrices: TypeAlias = tuple[Float[Any, "_ _"], ...]
"""``V_1 … V_L`` of one network, each (d_k, d_{k-1} + 1): weights, and the bias as last column."""

Table: TypeAlias = Float[Any, "_ K"] | None
"""What each of the 2^d_L outputs stands for (2**d_L, K); None for a single output neuron, whose sign is the answer."""

Lifted: TypeAlias = Float[Any, "rows _"]
"""Lifted rows."""

Answers: TypeAlias = Float[Any, "rows *K"]
"""A score for each row, or a probability for each row and class; labels as ±1, or a distribution over the classes."""

Losses: TypeAlias = Float[Any, "rows"]
"""A loss for each row."""

Key: TypeAlias = Any
"""A JAX PRNG key, or a `numpy.random.Generator` where a function says that it takes one."""
