"""Adam, as every method here trains with it."""

import optax

__all__ = ["ADAM"]

ADAM = optax.flatten(optax.scale_by_adam())
"""Directions of Adam with decay rates .9 and .999 and ε = 1e-8 (Kingma and Ba 2015); the caller scales them.

The moments are one raveled vector: a program of few operations, which is what narrow networks pay for (784-4-4-1, batch
100, four settings side by side: a step takes 0.17 ms rather than the 0.26 ms of a tree of moments).
"""
