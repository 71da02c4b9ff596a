"""`PBGNetPredictor`: PBGNet with one table per layer or, for any width, with draws from fixed thresholds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.checks import layered_arrays, plain_layers
from abnet.model.predictors.leading import leading_means
from abnet.model.predictors.paths import block_rows
from abnet.model.predictors.predictor import Arrays, Predictor
from abnet.networks import pbgnet
from abnet.networks.ancestral import sign_means
from abnet.networks.bam import BAM, contiguous
from abnet.networks.cube import multilinear
from abnet.networks.exact import check_width

__all__ = ["PBGNetPredictor"]


@dataclass(frozen=True, eq=False)
class PBGNetPredictor(Predictor):
    """PBGNet: ``F^1 = m_1(x)``, and ``F^k`` the mean of ``m_k`` over signs with the means ``F^{k-1}``.

    Without thresholds the mean is exact, by a table of ``m_k`` for each layer. With thresholds it is over the T draws
    ``s^t_i = +1`` where ``u^t_i < F^{k-1}_i``. The thresholds ``u^t``, uniform on [-1, 1), are drawn once and kept, so
    the score of a row depends only on that row; it is an estimate of PBGNet's output.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
    biases : tuple of arrays (d_k,)
    thresholds : tuple of arrays (T, d_k)
        Of each hidden layer; empty for exact means.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wide = PBGNetPredictor.from_network(BAM.init(rng, (2, 50, 50, 1)), rng, n_samples=10)
    >>> wide.scores([[3.0, 1.0], [-2.0, -2.0]]).shape
    (2,)
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    thresholds: tuple[NDArray[np.float64], ...] = ()

    def __post_init__(self) -> None:
        if len(self.biases[-1]) != 1:
            raise ValueError(f"a PBGNet has one output; got {len(self.biases[-1])}.")
        if not self.thresholds:
            check_width((self.n_inputs, *map(len, self.biases)))

    @staticmethod
    def from_network(
        network: BAM, rng: np.random.Generator | None = None, *, n_samples: int | None = None
    ) -> "PBGNetPredictor":
        """The network in float64; with `n_samples`, with as many fresh thresholds."""
        exact = contiguous(network)
        if n_samples is None:
            return PBGNetPredictor(exact.weights, exact.biases)
        if rng is None:
            rng = np.random.default_rng()
        thresholds = tuple(rng.uniform(-1, 1, (n_samples, d)) for d in network.sizes[1:-1])
        return PBGNetPredictor(exact.weights, exact.biases, thresholds)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "PBGNetPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        if any(name.startswith("thresholds") for name in arrays):
            weights, biases, thresholds = plain_layers(arrays, "thresholds")
            return PBGNetPredictor(weights, biases, thresholds)
        weights, biases = plain_layers(arrays)
        return PBGNetPredictor(weights, biases)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[1])

    @property
    def n_classes(self) -> int:
        """Two."""
        return 2

    @cached_property
    def tables(self) -> tuple[NDArray[np.float64], ...]:
        """``m_k`` over the representations of the layer below, (2**d_{k-1}, d_k), of every layer above the first."""
        return tuple(map(np.ascontiguousarray, pbgnet.tables(BAM(self.weights, self.biases).layers)))

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F^L(x)``."""
        if self.thresholds:
            step = block_rows(BAM(self.weights, self.biases).layers, len(self.thresholds[0]))
            # One block at least, so that no rows have no scores.
            starts = range(0, max(len(X), 1), step)
            return np.concatenate([self._sampled(X[start : start + step]) for start in starts])
        F = leading_means(self.weights[0], self.biases[0], X)
        for table in self.tables:
            F = np.asarray(multilinear(table, F))
        return F[:, 0]

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
