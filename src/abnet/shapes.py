"""Shapes in annotations: ``Float[Any, "rows d"]`` is an array of floats with these axes, of NumPy or of JAX.

They are there to be read. The tests import jaxtyping first, and beartype then checks every call; without it an
annotation means nothing and costs nothing.
"""

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["Float"]

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Float
else:

    class Float:
        """Stands in for `jaxtyping.Float`."""

        def __class_getitem__(cls, axes: Any) -> Any:
            return Any
