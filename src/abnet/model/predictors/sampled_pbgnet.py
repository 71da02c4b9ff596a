"""`SampledPBGNetPredictor`: PBGNet with draws from fixed thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.leading import leading_means
from abnet.model.predictors.paths import block_rows
from abnet.model.predictors.predictor import Arrays, Predictor
from abnet.model.predictors.stored_networks import layered_arrays, plain_layers
from abnet.networks.ancestral import sign_means
from abnet.networks.bam import BAM, contiguous

__all__ = ["SampledPBGNetPredictor"]


@dataclass(frozen=True, eq=False)
class SampledPBGNetPredictor(Predictor):
    """Sampled PBGNet: ``F^1 = m_1(x)``, and ``F^k`` the mean of ``m_k`` over T drawn signs with the means ``F^{k-1}``.

    The draws are ``s^t_i = +1`` where ``u^t_i < F^{k-1}_i``. The thresholds ``u^t``, uniform on [-1, 1), are drawn once
    and kept, so the score of a row depends only on that row. It is an estimate of PBGNet's output.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
    biases : tuple of arrays (d_k,)
    thresholds : tuple of arrays (T, d_k)
        Of each hidden layer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wide = SampledPBGNetPredictor.from_network(BAM.init(rng, (2, 50, 50, 1)), rng, n_samples=10)
    >>> wide.scores([[3.0, 1.0], [-2.0, -2.0]]).shape
    (2,)
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    thresholds: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        if len(self.biases[-1]) != 1:
            raise ValueError(f"a PBGNet has one output; got {len(self.biases[-1])}.")

    @staticmethod
    def from_network(network: BAM, rng: np.random.Generator, *, n_samples: int) -> "SampledPBGNetPredictor":
        """The network in float64, with as many fresh thresholds."""
        exact = contiguous(network)
        thresholds = tuple(rng.uniform(-1, 1, (n_samples, d)) for d in network.sizes[1:-1])
        return SampledPBGNetPredictor(exact.weights, exact.biases, thresholds)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "SampledPBGNetPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        weights, biases, thresholds = plain_layers(arrays, "thresholds")
        return SampledPBGNetPredictor(weights, biases, thresholds)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[1])

    @property
    def n_classes(self) -> int:
        """Two."""
        return 2

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F^L(x)``."""
        step = block_rows(BAM(self.weights, self.biases).layers, len(self.thresholds[0]))
        # One block at least, so that no rows have no scores.
        starts = range(0, max(len(X), 1), step)
        return np.concatenate([self._sampled(X[start : start + step]) for start in starts])

    def _sampled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        F = leading_means(self.weights[0], self.biases[0], X)
        finite = np.isfinite(F).all(axis=1)
        for V, u in zip(BAM(self.weights, self.biases).layers[1:], self.thresholds, strict=True):
            F = sign_means(V, np.where(u[None] < F[:, None], 1.0, -1.0)).mean(axis=1)
        # A sign would hide a NaN of the input from the caller.
        return np.where(finite, F[:, 0], np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``thresholds_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases, thresholds=self.thresholds)
