"""Initialisations: how the weights and biases of a random network are drawn.

The random network is the prior of the paper's bound, so its scale decides how far the posterior has to move, and on
some data sets where training ends (`docs/reproduction.md`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from abnet.networks.shapes import Key

__all__ = ["INITIALISATIONS", "FanInUniform", "GlorotNormal", "Initialisation", "standard_normal"]


class Initialisation(ABC):
    """How the weights and biases of one layer are drawn; subclasses are frozen dataclasses."""

    name: ClassVar[str]
    """The value of the parameter `init` that stands for it, with its default parameters."""

    @abstractmethod
    def layer(self, key: Key, n_inputs: int, n_units: int) -> tuple[Any, Any]:
        """Draw the weights (n_units, n_inputs) and the biases (n_units,) of a layer.

        Parameters
        ----------
        key : JAX PRNG key or numpy.random.Generator
            With a key the arrays are JAX arrays; with a generator they are NumPy arrays in float32.
        n_inputs, n_units : int
        """


@dataclass(frozen=True)
class GlorotNormal(Initialisation):
    """Normal weights with standard deviation ``gain · sqrt(2 / (n_inputs + n_units))``, and zero biases.

    The distribution is not truncated. With a gain of 1 this is the initialisation of PBGNet's public code.

    Parameters
    ----------
    gain : float

    Examples
    --------
    >>> weights, biases = GlorotNormal(gain=0.5).layer(np.random.default_rng(0), 300, 200)
    >>> round(float(weights.std() / np.sqrt(2 / 500)), 1), biases.any()
    (0.5, np.False_)
    """

    name: ClassVar[str] = "glorot_normal"
    gain: float = 1.0

    def layer(self, key: Key, n_inputs: int, n_units: int) -> tuple[Any, Any]:
        """Draw normal weights and zero biases."""
        draw = standard_normal(key, (n_units, n_inputs))
        deviation = self.gain * (2 / (n_inputs + n_units)) ** 0.5
        weights = draw * draw.dtype.type(deviation)
        return weights, 0 * weights[:, 0]


@dataclass(frozen=True)
class FanInUniform(Initialisation):
    """Weights and biases uniform in ``±1/sqrt(n_inputs)``, as PyTorch initialises a linear layer by default.

    Examples
    --------
    >>> weights, biases = FanInUniform().layer(np.random.default_rng(0), 400, 3)
    >>> bool(abs(weights).max() <= 0.05), bool(abs(biases).max() <= 0.05)
    (True, True)
    """

    name: ClassVar[str] = "fan_in_uniform"

    def layer(self, key: Key, n_inputs: int, n_units: int) -> tuple[Any, Any]:
        """Draw uniform weights and biases; a bias is drawn like the weight of a further input."""
        draw = _uniform(key, (n_units, n_inputs + 1))
        layer = draw * draw.dtype.type(n_inputs**-0.5)
        return layer[:, :-1], layer[:, -1]


INITIALISATIONS: dict[str, Initialisation] = {kind.name: kind() for kind in (GlorotNormal, FanInUniform)}
"""Initialisations by name, with their default parameters."""


def standard_normal(key: Key, shape: tuple[int, ...]) -> Any:
    """Standard normal numbers."""
    if isinstance(key, np.random.Generator):
        return key.standard_normal(shape, dtype=np.float32)
    import jax

    return jax.random.normal(key, shape)


def _uniform(key: Key, shape: tuple[int, ...]) -> Any:
    """Numbers that are uniform in [-1, 1)."""
    if isinstance(key, np.random.Generator):
        return 2 * key.random(shape, dtype=np.float32) - 1
    import jax

    return jax.random.uniform(key, shape, minval=-1)
