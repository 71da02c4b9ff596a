"""Mixtures of networks for prediction, two classes or several: the mean of what the members say, in NumPy alone.

The arrays of the members are stacked along a first axis. A single network with several classes is a mixture of one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.arrays import check_array, check_names
from abnet.bam import BAM, contiguous
from abnet.codebook import MOST_NEURONS, code_words, decode_table
from abnet.cube import mean_corner_probabilities, summed_multilinear
from abnet.features import CodedLayer, CodedRows
from abnet.labels import winners
from abnet.predictors.compact import MOST_SLACK, single_precision_error, single_precision_rows
from abnet.predictors.paths import BLOCK_SIGNS, block_rows, layered_arrays, path_means
from abnet.predictors.predictor import WIDEST, ModelInfo, Predictor, as_matrix, leading_arguments, leading_weights
from abnet.threads import mapped

__all__ = ["CompactMixture", "PathMixture"]


def class_table(n_classes: int, length: int) -> NDArray[np.float64] | None:
    """What the 2^c outputs of a network stand for; None for two classes, whose one output is a sign."""
    return None if n_classes == 2 else decode_table(code_words(n_classes, length))


@dataclass(frozen=True, eq=False)
class CompactMixture(Predictor):
    """Compact networks: ``F(x) = mean_m Σ_s H_m[s] P_m(x)[s]``, for several classes a column of H for each.

    Parameters
    ----------
    W : array (M, d_1, d_0)
    b : array (M, d_1)
        The members' leading hidden layers.
    H : array (M, 2**d_1) or (M, 2**d_1, K)
        Expected output of each of their representations, or the probability of each class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> nets = [BAM.init(rng, (2, 3, 1)) for _ in range(4)]
    >>> CompactMixture.from_networks(nets).decision_function([[3.0, 1.0], [-2.0, -2.0]]).shape
    (2,)
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    H: NDArray[np.float64]

    @staticmethod
    def from_networks(networks: Sequence[BAM], info: ModelInfo | None = None) -> "CompactMixture":
        """Collapse every member, in float64; the classes are those of the info."""
        from abnet.aggregation import region_values

        info = info or ModelInfo()
        table = class_table(info.labels.n_classes, networks[0].sizes[-1])
        exact = [network.astype(np.float64) for network in networks]
        W, b = (np.stack(parts) for parts in zip(*map(leading_weights, exact), strict=True))
        return CompactMixture(W, b, np.stack([region_values(network, table) for network in exact]), info=info)

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactMixture":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "H"))
        shape, K = arrays["W"].shape, info.labels.n_classes
        if len(shape) != 3 or 0 in shape or shape[1] > WIDEST:
            raise ValueError(f"the array W must have the shape (members, 1 to {WIDEST}, inputs), but has {shape}.")
        check_array(arrays, "W", shape)
        check_array(arrays, "b", shape[:2])
        check_array(arrays, "H", (shape[0], 2 ** shape[1], *([] if K == 2 else [K])))
        least = -1 if K == 2 else 0
        if arrays["H"].min() < least - 1e-9 or arrays["H"].max() > 1 + 1e-9:
            raise ValueError(f"the array H holds values outside [{least}, 1].")
        return CompactMixture(arrays["W"], arrays["b"], arrays["H"], info=info)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[2])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 2 if self.H.ndim == 2 else int(self.H.shape[2])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``mean_m Σ_s H_m[s] P_m(x)[s]``."""
        return self._dense_scorer(np.float64)(X)

    def _dense_scorer(self, dtype: Any) -> Callable[[Any], NDArray[Any]]:
        """From rows to scores; the members' leading layers are one matrix product."""
        W, b, H = (np.asarray(array, dtype) for array in (self.W, self.b, self.H))
        W, b = W.reshape(-1, self.n_inputs), b.reshape(-1)
        return lambda X: _mixed(H, leading_arguments(W, b, X))

    def coded_scorer(self, counts: tuple[int, ...], dtype: Any = np.float64) -> Callable[[CodedRows], NDArray[Any]]:
        """`score_rows` of coded rows; what the codes add to the members' sums is looked up."""
        layer = CodedLayer(self.W.reshape(-1, self.n_inputs), self.b.reshape(-1), counts, dtype)
        H = np.asarray(self.H, dtype)
        return lambda rows: _mixed(H, layer.arguments(rows))

    def votes(self, X: Any, *, threads: int = 1) -> NDArray[np.intp]:
        """The codes of `score_prepared`, from single precision where that is sure of them."""
        matrix = as_matrix(X, self.n_inputs)
        slack = self._single_precision_slack(matrix)
        if hasattr(matrix, "tocsr") or slack > MOST_SLACK:
            return super().votes(matrix, threads=threads)
        scores = self._single_precision_scores(matrix, threads)
        if not np.isfinite(scores).all():
            return super().votes(matrix, threads=threads)
        votes, unsure = winners(scores), _lead(scores) <= 2 * slack
        votes[unsure] = super().votes(matrix[unsure])
        return votes

    def _single_precision_slack(self, X: Any) -> float:
        """How far scores in float32 may be off. Of codes one sum is looked up for each feature, rounded once itself."""
        terms = X.features.shape[1] + len(X.reached) + 2 if isinstance(X, CodedRows) else None
        errors = [single_precision_error(W, b, terms=terms) for W, b in zip(self.W, self.b, strict=True)]
        return float(np.mean(errors)) + 1e-6

    def _single_precision_scores(self, X: Any, threads: int) -> NDArray[np.float64]:
        """Scores in float32, off by no more than the slack."""
        coded = isinstance(X, CodedRows)
        scorer: Any = self.coded_scorer(X.counts, np.float32) if coded else self._dense_scorer(np.float32)
        members, width = self.b.shape
        scores = np.empty((len(X), *self.H.shape[2:]))
        rows = self.coded_block if coded else max(single_precision_rows(self.n_inputs, width) // members, 16)

        def score(start: int) -> None:
            block = X[start : start + rows]
            with np.errstate(over="ignore"):
                scores[start : start + rows] = scorer(block if coded else np.asarray(block, np.float32))

        mapped(score, range(0, len(X), rows), threads)
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``H``."""
        return {"W": self.W, "b": self.b, "H": self.H}


def _mixed(H: NDArray[Any], arguments: NDArray[Any]) -> NDArray[Any]:
    """Mean of the members' scores, from the arguments (rows, members · width) of their leading means."""
    means = np.ascontiguousarray(erf(arguments).T).reshape(len(H), -1, len(arguments))
    return summed_multilinear(H, means) / H.dtype.type(len(H))


def _lead(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row's winner is ahead: |F|, or the largest share less the second largest."""
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


@dataclass(frozen=True, eq=False)
class PathMixture(Predictor):
    """Networks of any width: the mean over members and over fixed ancestral paths of each (see `PathPredictor`).

    Parameters
    ----------
    weights : tuple of arrays (M, d_k, d_{k-1})
    biases : tuple of arrays (M, d_k)
    noise : tuple of arrays (M, T, d_k)
        ε of each hidden layer, T paths for each member.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> nets = [BAM.init(rng, (2, 50, 1)) for _ in range(4)]
    >>> PathMixture.from_networks(nets, rng, n_paths=20).n_paths
    20
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    noise: tuple[NDArray[np.float64], ...]

    @staticmethod
    def from_networks(
        networks: Sequence[BAM], rng: np.random.Generator, *, n_paths: int, info: ModelInfo | None = None
    ) -> "PathMixture":
        """The members with fresh noise; about `n_paths` paths in all, the same number for each member."""
        exact, each = [contiguous(network) for network in networks], -(-n_paths // len(networks))
        noise = tuple(rng.standard_normal((len(exact), each, d)) for d in exact[0].sizes[1:-1])
        weights = tuple(np.stack(parts) for parts in zip(*(network.weights for network in exact), strict=True))
        biases = tuple(np.stack(parts) for parts in zip(*(network.biases for network in exact), strict=True))
        return PathMixture(weights, biases, noise, info=info or ModelInfo())

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "PathMixture":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        depth = sum(name.startswith("W_") for name in arrays)
        counts = {"W": depth, "b": depth, "noise": depth - 1}
        check_names(arrays, tuple(f"{name}_{k}" for name, count in counts.items() for k in range(1, count + 1)))
        if depth < 2 or any(array.ndim < 2 or 0 in array.shape for array in arrays.values()):
            raise ValueError("the arrays of a mixture of paths must be stacked tables, of 2 layers or more.")
        members, inputs, paths = len(arrays["W_1"]), arrays["W_1"].shape[-1], arrays["noise_1"].shape[1]
        for k in range(1, depth + 1):
            units = arrays[f"b_{k}"].shape[1]
            check_array(arrays, f"W_{k}", (members, units, inputs))
            check_array(arrays, f"b_{k}", (members, units))
            if k < depth:
                check_array(arrays, f"noise_{k}", (members, paths, units))
            inputs = units
        return PathMixture(*(tuple(arrays[f"{n}_{k}"] for k in range(1, c + 1)) for n, c in counts.items()), info=info)

    def __post_init__(self) -> None:
        K, c = self.info.labels.n_classes, int(self.biases[-1].shape[1])
        if (c == 1) != (K == 2) or not (K - 1).bit_length() <= c <= MOST_NEURONS:
            raise ValueError(f"{c} output neurons do not tell {K} classes apart.")
        if K > 2:
            self.info.code_words(c)
        super().__post_init__()

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[2])

    @property
    def n_classes(self) -> int:
        """Number of classes: any number fits the outputs that its code fits."""
        return self.info.labels.n_classes

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
        table = None if self.n_classes == 2 else decode_table(self.info.code_words(self.biases[-1].shape[1]))
        total: Any = 0
        for m, network in enumerate(self.networks()):
            total = total + self._member(network.layers, X, tuple(noise[m] for noise in self.noise), table)
        return np.asarray(total / len(self.weights[0]))

    def _member(self, layers: Any, X: NDArray[np.float64], noise: tuple[Any, ...], table: Any) -> NDArray[np.float64]:
        paths = len(noise[0])
        step = block_rows(layers, paths)
        if table is not None:
            step = max(min(step, BLOCK_SIGNS // len(table)), 1)
        blocks = []
        for start in range(0, len(X), step):
            means = path_means(layers, X[start : start + step], paths, lambda k, shape: noise[k])
            # Probabilities of the outputs are summed over the paths before they are decoded: K times less work.
            joint = means[:, :, 0].mean(axis=1) if table is None else mean_corner_probabilities(means) @ table
            blocks.append(joint)
        return np.concatenate(blocks) if blocks else np.empty((0, *([] if table is None else [self.n_classes])))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``noise_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases, noise=self.noise)
