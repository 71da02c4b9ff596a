"""PBGNet for prediction: one table a layer (`MeanFieldNetwork`), or draws by fixed thresholds (`SampledMeanField`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation.ancestral import sign_means
from abnet.arrays import check_names, check_table
from abnet.bam import BAM, contiguous
from abnet.cube import multilinear
from abnet.predictors.paths import block_rows, checked_layers, layered_arrays
from abnet.predictors.predictor import ModelInfo, Predictor, check_leading, leading_means, leading_weights

__all__ = ["MeanFieldNetwork", "SampledMeanField"]


@dataclass(frozen=True, eq=False)
class MeanFieldNetwork(Predictor):
    """PBGNet for prediction: the leading hidden layer and one table for each layer above it.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    tables : tuple of arrays (2**d_{k-1}, d_k)
        ``m_k`` over the representations of the layer below.
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    tables: tuple[NDArray[np.float64], ...]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "MeanFieldNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names = tuple(f"table_{k}" for k in range(2, len(arrays)))
        check_names(arrays, ("W", "b", *names))
        width = check_leading(arrays)
        for name in names:
            units = 1 if name == names[-1] else arrays[name].shape[-1] if arrays[name].ndim == 2 else 0
            check_table(arrays, name, (2**width, units))
            width = units
        if not names:
            raise ValueError("there is no table of a layer above the first.")
        return MeanFieldNetwork(arrays["W"], arrays["b"], tuple(arrays[name] for name in names), info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "MeanFieldNetwork":
        """Tabulate every layer above the first, in float64."""
        from abnet.aggregation import meanfield
        from abnet.aggregation.exact import check_width

        check_width(network.sizes)
        exact = network.astype(np.float64)
        tables = tuple(map(np.ascontiguousarray, meanfield.tables(exact.layers)))
        return MeanFieldNetwork(*leading_weights(exact), tables, info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F^L(x)``."""
        F = leading_means(self.W, self.b, X)
        for table in self.tables:
            F = np.asarray(multilinear(table, F))
        return F[:, 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b`` and the tables by layer."""
        return {"W": self.W, "b": self.b, **{f"table_{k}": t for k, t in enumerate(self.tables, start=2)}}


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
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "SampledMeanField":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        return SampledMeanField(*checked_layers(arrays, "thresholds"), info=info)

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
        F = leading_means(self.weights[0], self.biases[0], X)
        finite = np.isfinite(F).all(axis=1)
        for V, u in zip(layers[1:], self.thresholds, strict=True):
            F = sign_means(V, np.where(u[None] < F[:, None], 1.0, -1.0)).mean(axis=1)
        # A sign would hide a NaN of the input from the caller.
        return np.where(finite, F[:, 0], np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k``, ``b_k`` and ``thresholds_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases, thresholds=self.thresholds)
