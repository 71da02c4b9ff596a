"""`PBGNetPredictor`: exact outputs of networks whose neurons read independent signs, of any width and depth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.model.predictors.leading import leading_arguments
from abnet.model.predictors.predictor import Arrays, Predictor, Vote
from abnet.model.predictors.stored_networks import layered_arrays, stacked_layers
from abnet.networks import pbgnet
from abnet.networks.bam import BAM, contiguous
from abnet.networks.cube import multilinear
from abnet.networks.independent_signs import is_narrow, layer_table
from abnet.networks.square_wave import WaveSeries
from abnet.utils.coded_layer import CodedLayer
from abnet.utils.coded_rows import CodedRows

__all__ = ["PBGNetPredictor"]


@dataclass(frozen=True, eq=False)
class PBGNetPredictor(Predictor):
    """Mean output of some PBGNets: ``F^1 = m_1(x)``, and ``F^k`` the mean of ``m_k`` over independent signs.

    The signs have the means ``F^{k-1}``. An ABNet with one hidden layer is a PBGNet. Layers above few neurons have a
    table, others the series of `abnet.networks.square_wave`.

    Parameters
    ----------
    weights : tuple of arrays (M, d_k, d_{k-1})
    biases : tuple of arrays (M, d_k)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wide = PBGNetPredictor.from_networks([BAM.init(rng, (2, 50, 50, 1))])
    >>> wide.votes([[3.0, 1.0], [-2.0, -2.0]]).shape, wide.score_error < 1e-11
    ((2,), True)
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    vote: ClassVar[Vote] = "expectation"
    coded_block: ClassVar[int] = 512

    def __post_init__(self) -> None:
        if self.biases[-1].shape[1] != 1:
            raise ValueError(f"a PBGNet has one output; got {self.biases[-1].shape[1]}.")

    @staticmethod
    def from_networks(networks: Sequence[BAM]) -> "PBGNetPredictor":
        """The members in float64."""
        exact = [contiguous(network) for network in networks]
        weights = tuple(np.stack(parts) for parts in zip(*(network.weights for network in exact), strict=True))
        biases = tuple(np.stack(parts) for parts in zip(*(network.biases for network in exact), strict=True))
        return PBGNetPredictor(weights, biases)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "PBGNetPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        weights, biases = stacked_layers(arrays)
        return PBGNetPredictor(weights, biases)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[2])

    @property
    def n_classes(self) -> int:
        """Two."""
        return 2

    def networks(self) -> tuple[BAM, ...]:
        """The members."""
        members = range(len(self.weights[0]))
        return tuple(BAM(tuple(W[m] for W in self.weights), tuple(b[m] for b in self.biases)) for m in members)

    @cached_property
    def score_error(self) -> float:
        """Mean of the members' `abnet.networks.pbgnet.output_error`."""
        return float(np.mean([pbgnet.output_error(network.layers) for network in self.networks()]))

    @cached_property
    def _above(self) -> list[list[Callable[[Any], Any]]]:
        """From means to means, for each layer above the first of each member; tables are made once."""
        return [[_layer(V) for V in network.layers[1:]] for network in self.networks()]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the members' ``F^L(x)``."""
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
        total = np.zeros(len(arguments))
        for m, layers in enumerate(self._above):
            F = leading[:, m]
            for means in layers:
                F = means(F)
            total += F[:, 0]
        return total / members

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k`` and ``b_k`` by layer."""
        return layered_arrays(W=self.weights, b=self.biases)


def _layer(V: NDArray[np.float64]) -> Callable[[Any], Any]:
    """From the means of the signs below a layer to its means."""
    if is_narrow(V):
        table = np.ascontiguousarray(layer_table(V))
        return partial(multilinear, table)
    series = WaveSeries.of(V)
    return partial(_clipped_means, series)


def _clipped_means(series: WaveSeries, m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means by the series; rounding may move them out of [-1, 1]."""
    return np.clip(series.means(m), -1, 1)
