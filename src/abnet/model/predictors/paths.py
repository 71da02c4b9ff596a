"""`Paths`: networks of any width, by the mean output of a fixed set of sampled paths."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.leading import leading_scores
from abnet.model.predictors.predictor import Arrays, Predictor, Vote
from abnet.model.predictors.stored_networks import check_words, layered_arrays, stacked_layers
from abnet.networks.ancestral import sign_means, sign_scores
from abnet.networks.bam import BAM, contiguous
from abnet.networks.codebook import decode_table, decoded, decoded_numbers
from abnet.networks.cube import mean_corner_probabilities

__all__ = ["Paths", "block_rows", "path_means", "path_outputs"]

BLOCK_SIGNS = 2**21
"""Signs held at a time: 16 MB in float64, whatever the width and the number of paths."""
BLOCK_CLASSES = 2**24
"""Numbers held at a time while classes are decoded: 128 MB."""
Noise = Callable[[int, tuple[int, ...]], NDArray[np.float64]]
"""From a hidden layer's number (0 for the first) and a shape (rows, paths, d_k) to noise that broadcasts to it."""


@dataclass(frozen=True, eq=False)
class Paths(Predictor):
    """Aggregations of any width and depth: mean output of T ancestral paths of each member, whose randomness is fixed.

    A neuron with Gaussian weights outputs ``sgn(z + ε)``, ``ε ~ N(0, 1)`` (`abnet.networks.ancestral`). Path t has
    one ε for each hidden neuron, drawn once, independently of all data, and kept. For every x the outputs of the paths
    are independent with mean ``F_A(x)``, and the score of a row depends only on that row. `abnet.bounds.sampled` and
    `abnet.bounds.kept_paths_exact` bound its error.

    Parameters
    ----------
    weights : tuple of arrays (M, d_k, d_{k-1})
    biases : tuple of arrays (M, d_k)
    noise : tuple of arrays (M, T, d_k)
        ε of each hidden layer, T paths for each member.
    words : int8 array (K, c), optional
        Code word of each of several classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> nets = [BAM.init(rng, (2, 50, 1)) for _ in range(4)]
    >>> Paths.from_networks(nets, rng, n_paths=20).n_paths
    20
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    noise: tuple[NDArray[np.float64], ...]
    words: NDArray[np.int8] | None = None
    vote: ClassVar[Vote] = "kept paths"

    @staticmethod
    def from_networks(
        networks: Sequence[BAM], rng: np.random.Generator, *, n_paths: int, words: NDArray[np.int8] | None = None
    ) -> "Paths":
        """The members with fresh noise, in float64; about `n_paths` paths in all, the same number for each member.

        `rng` must be independent of the training of the networks.
        """
        exact = [contiguous(network) for network in networks]
        paths = math.ceil(n_paths / len(networks))
        noise = tuple(rng.standard_normal((len(exact), paths, d)) for d in exact[0].sizes[1:-1])
        weights = tuple(np.stack(parts) for parts in zip(*(network.weights for network in exact), strict=True))
        biases = tuple(np.stack(parts) for parts in zip(*(network.biases for network in exact), strict=True))
        return Paths(weights, biases, noise, words)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "Paths":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        words = arrays.get("words")
        further: tuple[str, ...] = ()
        if words is not None:
            further = ("words",)
        weights, biases, noise = stacked_layers(arrays, "noise", further=further)
        return Paths(weights, biases, noise, words)

    def __post_init__(self) -> None:
        check_words(self.words, self.biases[-1].shape[1])

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[2])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        if self.words is None:
            return 2
        return len(self.words)

    @property
    def n_paths(self) -> int:
        """Number of paths of all members."""
        return int(self.noise[0].shape[0] * self.noise[0].shape[1])

    def networks(self) -> tuple[BAM, ...]:
        """The members."""
        members = range(len(self.weights[0]))
        return tuple(BAM(tuple(W[m] for W in self.weights), tuple(b[m] for b in self.biases)) for m in members)

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean output of all fixed paths."""
        table = None
        if self.words is not None:
            table = decode_table(self.words)
        total: Any = 0
        for m, network in enumerate(self.networks()):
            total = total + _member_scores(network.layers, X, tuple(noise[m] for noise in self.noise), table)
        return np.asarray(total / len(self.weights[0]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``noise_k`` by layer, and the words."""
        arrays = layered_arrays(W=self.weights, b=self.biases, noise=self.noise)
        if self.words is not None:
            arrays["words"] = self.words
        return arrays


def _member_scores(
    layers: Any, X: NDArray[np.float64], noise: tuple[Any, ...], table: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Mean output of the paths of one member, block by block; with a table, decoded to several classes."""
    paths = len(noise[0])
    step = block_rows(layers, paths)
    if table is not None:
        step = max(min(step, BLOCK_SIGNS // len(table)), 1)
    blocks = []
    for start in range(0, max(len(X), 1), step):
        means = path_means(layers, X[start : start + step], paths, lambda k, shape: noise[k])
        if table is None:
            blocks.append(means[:, :, 0].mean(axis=1))
        else:
            # Probabilities of the outputs are summed over the paths before they are decoded: K times less work.
            blocks.append(mean_corner_probabilities(means) @ table)
    return np.concatenate(blocks)


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
        `abnet.networks.codebook.decode_table`.
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
        if k < len(layers) - 2:
            z = sign_scores(V, s)
        else:
            z = sign_means(V, s)
    # A sign would hide a NaN of the input from the caller.
    return np.where(finite[:, :, None], z, np.nan)


def block_rows(layers: tuple[Any, ...], n_paths: int, n_classes: int = 2) -> int:
    """Rows worked on at a time: their signs take `BLOCK_SIGNS` numbers, the decoding of classes `BLOCK_CLASSES`."""
    rows = BLOCK_SIGNS // (n_paths * max(V.shape[1] for V in layers[1:]))
    if n_classes > 2:
        rows = min(rows, BLOCK_CLASSES // (n_paths * decoded_numbers(n_classes, layers[-1].shape[0])))
    return max(rows, 1)
