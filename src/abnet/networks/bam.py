"""Binary activated multilayer networks (the paper's BAM)."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.networks.cube import namespace
from abnet.networks.initialisation import GlorotNormal, Initialisation, standard_normal
from abnet.networks.shapes import Float, Key, Matrices

__all__ = ["BAM", "check_inputs", "check_layers", "contiguous", "sgn"]


def sgn(t: Float[Any, "*shape"]) -> Float[Any, "*shape"]:
    """Sign with ``sgn(0) = +1``, for NumPy and JAX arrays alike.

    Examples
    --------
    >>> sgn(np.array([-2.0, 0.0, 3.0]))
    array([-1.,  1.,  1.])
    """
    return (t >= 0) * t.dtype.type(2) - t.dtype.type(1)


class BAM(NamedTuple):
    """A network whose neurons output ±1: ``F_B(x) = sgn(W_L sgn(… sgn(W_1 x + b_1) …) + b_L)``.

    It is a named tuple, and so a JAX pytree: gradients, `jax.vmap` and optimisers work on it directly.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
        ``W_1 … W_L``, real-valued.
    biases : tuple of arrays (d_k,)
        ``b_1 … b_L``.

    Examples
    --------
    >>> W_1, W_2 = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> xor = BAM((W_1, W_2), (np.array([-0.5, 1.5]), np.array([-1.0])))
    >>> xor.sizes
    (2, 2, 1)
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([-1.,  1.,  1., -1.])
    """

    # No shapes here: JAX transformations rebuild a network with other objects in place of its arrays.
    weights: tuple[Any, ...]
    biases: tuple[Any, ...]

    @staticmethod
    def init(key: Key, sizes: tuple[int, ...], initialisation: Initialisation | None = None) -> "BAM":
        """A random network.

        Parameters
        ----------
        key : JAX PRNG key or numpy.random.Generator
            With a key the arrays are JAX arrays; with a generator they are NumPy arrays, and nothing is compiled.
        sizes : tuple of int
            ``(d_0, d_1, …, d_L)``.
        initialisation : Initialisation, optional
            How weights and biases are drawn; by default `abnet.networks.GlorotNormal()`.
        """
        check_sizes(sizes)
        if initialisation is None:
            initialisation = GlorotNormal()
        weights = []
        biases = []
        for key_of_layer, (n_inputs, n_units) in zip(_keys(key, len(sizes) - 1), pairwise(sizes), strict=True):
            W, b = initialisation.layer(key_of_layer, n_inputs, n_units)
            weights.append(W)
            biases.append(b)
        return BAM(tuple(weights), tuple(biases))

    @property
    def sizes(self) -> tuple[int, ...]:
        """``(d_0, d_1, …, d_L)``."""
        return (int(self.weights[0].shape[1]), *(int(W.shape[0]) for W in self.weights))

    @property
    def layers(self) -> Matrices:
        """``V_k = (W_k, b_k)``, each (d_k, d_{k-1} + 1): a bias is a weight on a constant input 1."""
        check_layers(self)
        xp = namespace(self.weights[0])
        return tuple(xp.concatenate([W, b[:, None]], axis=1) for W, b in zip(self.weights, self.biases, strict=True))

    @staticmethod
    def from_layers(layers: Matrices) -> "BAM":
        """The network with layers ``V_k = (W_k, b_k)``."""
        return BAM(tuple(V[:, :-1] for V in layers), tuple(V[:, -1] for V in layers))

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """``F_B(x)`` for every row of X in float64, shape (n,) (or (n, d_L) for several outputs)."""
        s = np.asarray(X)
        check_inputs(self, s)
        s = s.astype(np.float64)
        for W, b in zip(self.weights, self.biases, strict=True):
            s = sgn(s @ np.asarray(W, np.float64).T + np.asarray(b, np.float64))
        if s.shape[1] == 1:
            return s[:, 0]
        return s

    def perturb(self, key: Key) -> "BAM":
        """One network drawn from the aggregation ``A(B)``: ``N(·, 1)`` on every weight and every bias."""
        check_layers(self)
        leaves = (*self.weights, *self.biases)
        noise = [standard_normal(k, leaf.shape) for k, leaf in zip(_keys(key, len(leaves)), leaves, strict=True)]
        drawn = tuple(leaf + draw.astype(leaf.dtype) for leaf, draw in zip(leaves, noise, strict=True))
        return BAM(drawn[: len(self.weights)], drawn[len(self.weights) :])

    def astype(self, dtype: Any) -> "BAM":
        """The same network with NumPy arrays of another floating-point type."""
        return BAM(tuple(np.asarray(W, dtype) for W in self.weights), tuple(np.asarray(b, dtype) for b in self.biases))


def check_sizes(sizes: tuple[Any, ...]) -> None:
    """Raise a ValueError unless there are at least an input and an output size, each of 1 or more."""
    if len(sizes) < 2 or any(int(d) != d or d < 1 for d in sizes):
        raise ValueError(f"sizes must be at least (inputs, outputs), each a whole number of 1 or more; got {sizes}.")


def check_layers(network: BAM) -> None:
    """Raise a ValueError for layers whose shapes do not match, and for weights that are not finite floats."""
    if not 0 < len(network.weights) == len(network.biases):
        raise ValueError(f"the network has {len(network.weights)} weight matrices and {len(network.biases)} biases.")
    below: Any = "the input"
    for k, (W, b) in enumerate(zip(network.weights, network.biases, strict=True), start=1):
        fits = W.ndim == 2 and b.shape == W.shape[:1]
        if k > 1:
            fits = fits and W.shape[1] == below
        if not fits:
            raise ValueError(f"layer {k} has weights {W.shape} and biases {b.shape}, above {below} units.")
        for name, array in (("weights", W), ("biases", b)):
            if array.dtype.kind != "f":
                raise ValueError(f"the {name} of layer {k} must be floats: use astype; got {array.dtype}.")
            if isinstance(array, np.ndarray) and not np.isfinite(array).all():
                raise ValueError(f"the {name} of layer {k} must be finite numbers.")
        below = W.shape[0]


def check_inputs(network: BAM, X: Any) -> None:
    """Raise a ValueError for a network whose layers do not match, and for inputs of a wrong shape or type."""
    check_layers(network)
    d = network.sizes[0]
    if X.ndim != 2 or X.shape[1] != d:
        raise ValueError(f"X must have rows of {d} numbers, an array (n, {d}); got {X.shape}.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must be an array of numbers; got {X.dtype}.")
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not np.isfinite(X).all():
        raise ValueError(f"X must be finite; row {int(np.isfinite(X).all(axis=1).argmin())} has values that are not.")


def _keys(key: Key, count: int) -> list[Key]:
    """A key for each of several draws; a generator is its own successor."""
    if isinstance(key, np.random.Generator):
        return [key] * count
    import jax

    return list(jax.random.split(key, count))


def contiguous(network: BAM) -> BAM:
    """The network in float64, with contiguous arrays as read from a file, so that products agree to the last bit."""
    doubles = network.astype(np.float64)
    weights = tuple(np.ascontiguousarray(W) for W in doubles.weights)
    biases = tuple(np.ascontiguousarray(b) for b in doubles.biases)
    return BAM(weights, biases)
