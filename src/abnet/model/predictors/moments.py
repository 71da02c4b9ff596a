"""`MomentsPredictor`: wide networks by means and variances, as if the units of a layer were independent."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.leading import leading_arguments
from abnet.model.predictors.predictor import Arrays, Predictor
from abnet.model.predictors.stored_arrays import check_array
from abnet.model.predictors.stored_networks import check_words, layered_arrays, stacked_layers
from abnet.model.predictors.weight_steps import rounded_to
from abnet.networks.bam import BAM, contiguous
from abnet.networks.codebook import decode_table
from abnet.networks.cube import erf, mean_corner_probabilities, namespace
from abnet.utils.coded_layer import CodedLayer
from abnet.utils.coded_rows import CodedRows

__all__ = ["LayerMoments", "MomentsPredictor", "layer_moments", "one_of_several", "posterior_average"]


@dataclass(frozen=True, eq=False)
class MomentsPredictor(Predictor):
    """Wide members in closed form, as a deterministic predictor: the mean of the members' ``v_L``.

    ``v_1 = erf((W_1 x + b_1)/sqrt(2(‖x‖² + 1)))`` and, for l ≥ 2, ``v_l = erf((W_l v_{l-1} + b_l)/sqrt(2 s_l²))`` with
    ``s_l² = d_{l-1} + 1 + e + Σ_i W_li² (1 - v_{l-1,i}²)``. With one hidden layer the variance is exact, but the normal
    approximation is not, and the outputs are not independent. So bounds for the posterior do not cover this predictor;
    bounds from held-out rows do. For several classes it is the multilinear extension of the code table at ``v_L``;
    without code words there is one output per class, `one_of_several` (EBP).

    Parameters
    ----------
    weights : tuple of arrays (M, d_k, d_{k-1})
    biases : tuple of arrays (M, d_k)
    words : int8 array (K, c), optional
        Code word of each of several classes.
    e : float
        Extra variance of the layers above the first (EBP).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> MomentsPredictor.from_networks([BAM.init(rng, (2, 50, 1)) for _ in range(4)]).scores([[0.0, 0.0]])
    array([0.])
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    words: NDArray[np.int8] | None = None
    e: float = 0.0
    coded_block: ClassVar[int] = 512

    @staticmethod
    def from_networks(
        networks: Sequence[BAM], words: NDArray[np.int8] | None = None, *, e: float = 0.0
    ) -> "MomentsPredictor":
        """The members' weights, in float64."""
        exact = [contiguous(network) for network in networks]
        weights = tuple(np.stack(parts) for parts in zip(*(network.weights for network in exact), strict=True))
        biases = tuple(np.stack(parts) for parts in zip(*(network.biases for network in exact), strict=True))
        return MomentsPredictor(weights, biases, words, e)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "MomentsPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        words = arrays.get("words")
        further: tuple[str, ...] = ("e",)
        if words is not None:
            further = ("e", "words")
        weights, biases = stacked_layers(arrays, further=further)
        check_array(arrays, "e", (1,))
        return MomentsPredictor(weights, biases, words, float(arrays["e"][0]))

    def __post_init__(self) -> None:
        outputs = self.biases[-1].shape[1]
        if self.words is not None:
            check_words(self.words, outputs)
        elif outputs == 2:
            raise ValueError("there is one output for two classes, or one for each of several.")
        if self.e < 0:
            raise ValueError(f"the extra variance e must be 0 or above; got {self.e}.")

    def rounded(self, bits: int = 8) -> "MomentsPredictor":
        """The predictor with rounded weights in the first layer: a different predictor, which has to be certified.

        These weights take most of a file, and the rounding error is far below their posterior standard deviation of 1.
        With 8 bits a weight takes one byte, and the contributions of thermometer codes are integers.
        """
        return replace(self, weights=(rounded_to(bits, self.weights[0]), *self.weights[1:]))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[2])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        if self.words is not None:
            return len(self.words)
        return max(self.biases[-1].shape[1], 2)

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the members' outputs, in [-1, 1], or of their shares of several classes."""
        W = self.weights[0].reshape(-1, self.n_inputs)
        b = self.biases[0].reshape(-1)
        return self.above(leading_arguments(W, b, X))

    def coded_scorer(self, counts: tuple[int, ...]) -> Callable[[CodedRows], NDArray[np.float64]]:
        """`score_rows` of coded rows; what the codes add to the members' sums is looked up."""
        layer = CodedLayer(self.weights[0].reshape(-1, self.n_inputs), self.biases[0].reshape(-1), counts)
        return lambda rows: self.above(layer.arguments(rows))

    def above(self, arguments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from the arguments (rows, members · d_1) of the leading means."""
        members, width = self.biases[0].shape
        leading: Any = erf(arguments).reshape(-1, members, width)
        outputs = list[Any]()
        for m in range(members):
            v = leading[:, m]
            for W, b in zip(self.weights[1:], self.biases[1:], strict=True):
                z = _standardised(W[m], b[m], v, self.e)[1]
                v = erf(z / math.sqrt(2))
            if self.words is not None:
                outputs.append(v)
            elif self.n_classes == 2:
                outputs.append(v[:, 0])
            else:
                outputs.append(one_of_several(z))
        if self.words is not None:
            return self._decoded(np.stack(outputs, axis=1))
        return np.asarray(sum(outputs) / members)

    @cached_property
    def _code_table(self) -> NDArray[np.float64]:
        """The class of each corner of the outputs; computed once, because small batches would wait for it."""
        assert self.words is not None
        return decode_table(self.words)

    def _decoded(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of the classes from means (rows, members, c); corners are averaged over the members, then decoded."""
        table = self._code_table
        rows = max(2**20 // len(table), 1)
        parts = [means[start : start + rows] for start in range(0, max(len(means), 1), rows)]
        return np.concatenate([mean_corner_probabilities(part) @ table for part in parts])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k`` and ``b_k`` by layer, e and the words."""
        arrays = layered_arrays(W=self.weights, b=self.biases)
        arrays["e"] = np.array([self.e])
        if self.words is not None:
            arrays["words"] = self.words
        return arrays


class LayerMoments(NamedTuple):
    """One layer of the forward pass: mean inputs ``v_{l-1}``, deviations ``s_l`` and ``z_l = a_l / s_l``."""

    v: Any
    s: Any
    z: Any


def layer_moments(network: BAM, X: Any, *, e: float) -> list[LayerMoments]:
    """Propagate means and variances through the layers, as if the units of a layer were independent Gaussians.

    ``a_l = M_l v_{l-1} + b_l``, ``s_1² = ‖x‖² + 1``, ``s_l² = (d_{l-1} + 1) + M_l² (1 - v_{l-1}²) + e`` for l ≥ 2,
    ``v_l = 2Φ(a_l/s_l) - 1``.

    Parameters
    ----------
    network : BAM
        Posterior means.
    X : array (rows, d_0)
        NumPy or JAX, like the network.
    e : float
        Extra variance of the layers above the first.
    """
    v = X
    layers: list[LayerMoments] = []
    for M, b in zip(network.weights, network.biases, strict=True):
        if layers:
            s, z = _standardised(M, b, v, e)
        else:
            s = namespace(v).sqrt((v * v).sum(axis=1, keepdims=True) + 1)
            z = (v @ M.T + b[None, :]) / s
        layers.append(LayerMoments(v, s, z))
        v = erf(z / math.sqrt(2))
    return layers


def _standardised(W: Any, b: Any, v: Any, e: float) -> tuple[Any, Any]:
    """``s`` and ``z = (W v + b)/s`` of a layer whose inputs are signs with the means v."""
    variance = W.shape[1] + 1 + e + (1 - v * v) @ (W * W).T
    s = namespace(variance).sqrt(variance)
    return s, (v @ W.T + b[None, :]) / s


def posterior_average(network: BAM, X: Any, *, e: float) -> Any:
    """EBP's output ``v_L = erf(z_L/√2)``, approximately the mean output of networks drawn from ``N(network, I)``.

    The label is its sign, and ``P(y|x) = (1 + y v_L)/2``. With several outputs the label is that of the largest.
    Parameters as in `layer_moments`.

    Returns
    -------
    array (rows,) or (rows, K)
        In [-1, 1].

    Examples
    --------
    >>> network = BAM((np.array([[1.0, 0.0]]),), (np.array([0.0]),))
    >>> posterior_average(network, np.array([[0.0, 0.0], [3.0, 0.0]]), e=1.0).round(3)
    array([0.   , 0.657])
    """
    z = layer_moments(network, X, e=e)[-1].z
    if z.shape[1] == 1:
        z = z[:, 0]
    return erf(z / math.sqrt(2))


def one_of_several(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of K classes, given that one output and no other is +1: ``P_j ∝ Φ(z_j) Π_{k≠j} Φ(-z_k)``.

    That is ``P_j ∝ Φ(z_j)/Φ(-z_j)``, so that the largest z has the largest share (Soudry, Hubara and Meir 2014 predict
    the most probable of the K possible labels).

    Examples
    --------
    >>> one_of_several(np.array([[0.0, 0.0, 0.0, 0.0]]))
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    from scipy.special import log_ndtr

    log_odds = log_ndtr(z) - log_ndtr(-z)
    odds = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
