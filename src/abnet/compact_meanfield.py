"""Stochastic PBGNet for prediction: its draws made by fixed thresholds, in NumPy alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation.signs import sign_means
from abnet.bam import BAM
from abnet.compact import ModelInfo, Predictor
from abnet.compact_paths import block_rows, checked_layers, contiguous, layered_arrays, leading_scores
from abnet.cube import erf

__all__ = ["SampledMeanField"]


@dataclass(frozen=True, eq=False)
class SampledMeanField(Predictor):
    """PBGNet of any width: ``F^k = mean_t m_k(s^t)`` with ``s^t_i = +1`` where ``u^t_i < F^{k-1}_i``.

    The T thresholds ``u^t``, uniform on [-1, 1), are drawn once for each layer and kept, so that the score of a row
    depends on that row alone. An estimate of PBGNet's output.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
    biases : tuple of arrays (d_k,)
    thresholds : tuple of arrays (T, d_k)
        Of each hidden layer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wide = SampledMeanField.from_network(BAM.init(rng, (2, 50, 50, 1)), rng, n_samples=10)
    >>> wide.decision_function([[3.0, 1.0], [-2.0, -2.0]]).shape
    (2,)
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    thresholds: tuple[NDArray[np.float64], ...]

    @staticmethod
    def from_network(
        network: BAM, rng: np.random.Generator, *, n_samples: int, info: ModelInfo | None = None
    ) -> "SampledMeanField":
        """The network with fresh thresholds, in float64."""
        exact = contiguous(network)
        thresholds = tuple(rng.uniform(-1, 1, (n_samples, d)) for d in network.sizes[1:-1])
        return SampledMeanField(exact.weights, exact.biases, thresholds, info=info or ModelInfo())

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo | None = None) -> "SampledMeanField":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        return SampledMeanField(*checked_layers(arrays, "thresholds"), info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F^L(x)`` on the fixed thresholds."""
        layers = BAM(self.weights, self.biases).layers
        step = block_rows(layers, len(self.thresholds[0]))
        blocks = [self._score(layers, X[start : start + step]) for start in range(0, len(X), step)]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def _score(self, layers: tuple[Any, ...], X: NDArray[np.float64]) -> NDArray[np.float64]:
        F = erf(leading_scores(layers[0], X) * 0.5**0.5)
        finite = np.isfinite(F).all(axis=1)
        for V, u in zip(layers[1:], self.thresholds, strict=True):
            F = sign_means(V, np.where(u[None] < F[:, None], 1.0, -1.0)).mean(axis=1)
        # A sign would hide a NaN of the input from the caller.
        return np.where(finite, F[:, 0], np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``thresholds_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases, thresholds=self.thresholds)
