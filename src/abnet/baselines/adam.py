"""Adam's direction, as all learners here use it."""

import optax

__all__ = ["ADAM"]

# Decay rates .9 and .999, ε = 1e-8 (Kingma and Ba 2015). The moments are one raveled vector: a program of few
# operations, which is what narrow networks pay for (784-4-4-1, batch 100, four settings side by side: a step takes
# 0.17 ms rather than the 0.26 ms of a tree of moments).
ADAM = optax.flatten(optax.scale_by_adam())
