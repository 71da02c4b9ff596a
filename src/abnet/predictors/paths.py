"""Wide networks for prediction, in NumPy alone: the mean of a fixed set of sampled paths, or of uniform draws."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import uniform
from abnet.aggregation.ancestral import sign_means, sign_scores
from abnet.arrays import check_array, check_names, check_table
from abnet.bam import BAM, contiguous
from abnet.codebook import decoded, decoded_numbers
from abnet.predictors.predictor import ModelInfo, Predictor, leading_scores

__all__ = [
    "CompactUniform",
    "PathPredictor",
    "block_rows",
    "checked_layers",
    "layered_arrays",
    "path_means",
    "path_outputs",
]


BLOCK_SIGNS = 2**21
"""Signs held at a time: 16 MB in float64, whatever the width and the number of paths."""
BLOCK_CLASSES = 2**24
"""Numbers held at a time while classes are decoded: 128 MB."""
Noise = Callable[[int, tuple[int, ...]], NDArray[np.float64]]
"""From a hidden layer's number (0 for the first) and a shape (rows, paths, d_k) to noise that broadcasts to it."""


@dataclass(frozen=True, eq=False)
class PathPredictor(Predictor):
    """An aggregation of any width and depth: mean output of T ancestral paths whose randomness is fixed.

    A neuron with Gaussian weights outputs ``sgn(z + ε)``, ``ε ~ N(0, 1)`` (`abnet.aggregation.ancestral`). Path t has
    one ε for each hidden neuron, drawn once, independently of all data, and kept: for every single x the T outputs are
    independent and have the mean ``F_A(x)``, and the score of a row depends on that row alone.
    `abnet.bounds.sampled` says what is promised for it.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
    biases : tuple of arrays (d_k,)
    noise : tuple of arrays (T, d_k)
        ε of each hidden layer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wide = PathPredictor.from_network(BAM.init(rng, (2, 100, 100, 1)), rng, n_paths=10)
    >>> wide.decision_function([[3.0, 1.0], [-2.0, -2.0]]).shape
    (2,)
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    noise: tuple[NDArray[np.float64], ...]

    @staticmethod
    def from_network(
        network: BAM, rng: np.random.Generator, *, n_paths: int, info: ModelInfo | None = None
    ) -> "PathPredictor":
        """The network with fresh noise, in float64; `rng` must have no part in the training of the network."""
        exact = contiguous(network)
        noise = tuple(rng.standard_normal((n_paths, d)) for d in network.sizes[1:-1])
        return PathPredictor(exact.weights, exact.biases, noise, info=info or ModelInfo())

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "PathPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        return PathPredictor(*checked_layers(arrays, "noise"), info=info)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[1])

    @property
    def n_paths(self) -> int:
        """Number of paths T."""
        return len(self.noise[0])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean output of the fixed paths."""
        layers = BAM(self.weights, self.biases).layers
        outputs = np.empty(len(X))
        step = block_rows(layers, self.n_paths)
        for start in range(0, len(X), step):
            block = path_outputs(layers, X[start : start + step], self.n_paths, lambda k, shape: self.noise[k])
            outputs[start : start + step] = block.mean(axis=1)
        return outputs

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``noise_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases, noise=self.noise)


def path_outputs(
    layers: tuple[Any, ...], X: NDArray[np.float64], n_paths: int, noise: Noise, table: Any = None
) -> NDArray[np.float64]:
    """Outputs ``m_L(s_{L-1})`` of ancestral paths, ``s_k = sgn(z_k(s_{k-1}) + ε_k)``, shape (rows, n_paths).

    With a table, the probability of each class given ``s_{L-1}``, shape (rows, n_paths, K): the output neurons are
    independent then.

    Parameters
    ----------
    layers, X, n_paths, noise
        As for `path_means`.
    table : array (2**d_L, K), optional
        `abnet.codebook.decode_table`.
    """
    means = path_means(layers, X, n_paths, noise)
    if table is None:
        return means[:, :, 0]
    return np.asarray(decoded(table, means.reshape(-1, means.shape[2])).reshape(*means.shape[:2], table.shape[1]))


def path_means(layers: tuple[Any, ...], X: NDArray[np.float64], n_paths: int, noise: Noise) -> NDArray[np.float64]:
    """Means ``m_L(s_{L-1})`` of all output neurons at the end of ancestral paths, shape (rows, n_paths, d_L).

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
    X : array (rows, d_0)
        Prepared rows; in float64 all is computed in float64.
    n_paths : int
    noise : callable
        The ε of a layer: the same for all rows, or anew for each.
    """
    z = leading_scores(layers[0], X)[:, None, :]
    finite = np.isfinite(z).all(axis=2)
    for k, V in enumerate(layers[1:]):
        drawn = noise(k, (len(X), n_paths, z.shape[2]))
        s = np.where(z + drawn >= 0, V.dtype.type(1), V.dtype.type(-1))
        z = sign_scores(V, s) if k < len(layers) - 2 else sign_means(V, s)
    # A sign would hide a NaN of the input from the caller.
    return np.where(finite[:, :, None], z, np.nan)


def block_rows(layers: tuple[Any, ...], n_paths: int, n_classes: int = 2) -> int:
    """Rows worked on at a time: their signs take `BLOCK_SIGNS` numbers, the decoding of classes `BLOCK_CLASSES`."""
    rows = BLOCK_SIGNS // (n_paths * max(V.shape[1] for V in layers[1:]))
    if n_classes > 2:
        rows = min(rows, BLOCK_CLASSES // (n_paths * decoded_numbers(n_classes, layers[-1].shape[0])))
    return max(rows, 1)


def layered_arrays(**parts: tuple[NDArray[Any], ...]) -> dict[str, NDArray[Any]]:
    """Arrays of each layer by name and number: ``W_1``, ``W_2``, …"""
    return {f"{name}_{k}": array for name, tuple_ in parts.items() for k, array in enumerate(tuple_, start=1)}


def checked_layers(
    arrays: Mapping[str, NDArray[Any]], drawn: str | None = None, *, several: bool = False
) -> list[tuple[NDArray[Any], ...]]:
    """Weights, biases and, if named, drawn numbers of the hidden layers from `layered_arrays`; ValueError if they do
    not fit together. One output, or `several`.
    """
    depth = sum(name.startswith("W_") for name in arrays)
    numbers = {"W": depth, "b": depth} | ({} if drawn is None else {drawn: depth - 1})
    check_names(arrays, tuple(f"{name}_{k}" for name, count in numbers.items() for k in range(1, count + 1)))
    tables, least = (("W_1",), 1) if drawn is None else (("W_1", f"{drawn}_1"), 2)
    if depth < least or any(arrays[name].ndim != 2 or 0 in arrays[name].shape for name in tables):
        raise ValueError(f"the arrays {' and '.join(tables)} must be tables, of {least} layers or more.")
    inputs = arrays["W_1"].shape[1]
    for k in range(1, depth + 1):
        units = 1 if k == depth and not several else arrays[f"b_{k}"].size
        check_array(arrays, f"W_{k}", (units, inputs))
        check_array(arrays, f"b_{k}", (units,))
        if drawn is not None and k < depth:
            check_array(arrays, f"{drawn}_{k}", (len(arrays[f"{drawn}_1"]), units))
        inputs = units
    return [tuple(arrays[f"{name}_{k}"] for k in range(1, count + 1)) for name, count in numbers.items()]


@dataclass(frozen=True, eq=False)
class CompactUniform(Predictor):
    """Stochastic ABNet on fixed draws: ``F(x) = Σ_s H D P_1(x) / Σ_s D P_1(x)``.

    The sums are over n representations of the leading layer. Equal to the paper's layer-normalised pass on the same
    draws, at the same cost for every depth. It is not ``F_A``, and a bound computed from it is an estimate.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
        The leading hidden layer.
    S : int8 array (n, d_1)
        Its drawn representations.
    H, log_d : arrays (n,)
        `abnet.aggregation.uniform.regions`.

    Examples
    --------
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> CompactUniform.from_network(net, np.random.default_rng(0), n_samples=4).predict([[3.0, 3.0], [-1.0, -2.0]])
    array([ 1, -1])
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    S: NDArray[np.int8]
    H: NDArray[np.float64]
    log_d: NDArray[np.float64]

    @staticmethod
    def from_network(
        network: BAM, rng: np.random.Generator, *, n_samples: int, info: ModelInfo | None = None
    ) -> "CompactUniform":
        """Draw once, and collapse all layers after the first into two vectors, in float64."""
        exact = contiguous(network)
        draws = uniform.draw(rng, network.sizes, n_samples, np.float64)
        H, log_D = uniform.regions(exact.layers, draws)
        return CompactUniform(
            exact.weights[0], exact.biases[0], draws[0].astype(np.int8), H, log_D, info=info or ModelInfo()
        )

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactUniform":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "S", "H", "log_d"))
        if arrays["W"].ndim != 2 or arrays["S"].ndim != 2 or 0 in arrays["W"].shape + arrays["S"].shape:
            raise ValueError("the arrays W and S must be tables.")
        width, n = len(arrays["W"]), len(arrays["S"])
        check_array(arrays, "W", arrays["W"].shape)
        check_array(arrays, "b", (width,))
        check_array(arrays, "S", (n, width), np.int8)
        check_table(arrays, "H", (n,))
        check_array(arrays, "log_d", (n,))
        if not (np.abs(arrays["S"]) == 1).all():
            raise ValueError("the array S must hold signs, -1 and +1.")
        return CompactUniform(*(arrays[name] for name in ("W", "b", "S", "H", "log_d")), info=info)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``Σ_s H D P_1 / Σ_s D P_1``."""
        z = leading_scores(np.column_stack([self.W, self.b]), X)
        # A quotient of sums may leave [-1, 1] by rounding.
        return np.clip(uniform.read(z, self.S.astype(np.float64), self.H, self.log_d), -1, 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``S``, ``H``, ``log_d``."""
        return {"W": self.W, "b": self.b, "S": self.S, "H": self.H, "log_d": self.log_d}
