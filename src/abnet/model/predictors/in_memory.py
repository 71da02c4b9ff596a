"""`InMemory`: predictor for a user-defined aggregation. It predicts, but cannot be saved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.predictor import Arrays, Predictor, Vote
from abnet.networks.bam import BAM, contiguous
from abnet.networks.codebook import decode_table
from abnet.networks.lifting import lift
from abnet.networks.protocol import Aggregation

__all__ = ["InMemory"]


@dataclass(frozen=True, eq=False)
class InMemory(Predictor):
    """The mean output of some networks under a user-defined aggregation.

    If the aggregation is certified and does not sample, its output is the expected output of a draw.

    Parameters
    ----------
    aggregation : Aggregation
        It must not sample; its `output` takes NumPy arrays in float64, and returns an array.
    networks : tuple of BAM
    words : int8 array (K, c), optional
        Code words of several classes.
    """

    vote: ClassVar[Vote] = "expectation"

    aggregation: Aggregation
    networks: tuple[BAM, ...]
    words: NDArray[np.int8] | None = None

    @staticmethod
    def from_networks(
        aggregation: Aggregation, networks: Sequence[BAM], words: NDArray[np.int8] | None = None
    ) -> "InMemory":
        """The predictor of some members, in float64."""
        return InMemory(aggregation, tuple(map(contiguous, networks)), words)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the networks."""
        return self.networks[0].sizes[0]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        if self.words is None:
            return 2
        return len(self.words)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Raises a ValueError, because the code of the aggregation cannot be stored."""
        self._refuse()

    @staticmethod
    def from_arrays(arrays: Arrays) -> "InMemory":
        """Raises a ValueError, because this predictor is never in a file."""
        raise ValueError("a model with an aggregation of the user's own is not in any file.")

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the networks' outputs."""
        table = None
        if self.words is not None:
            table = decode_table(self.words)
        lifted = lift(X)
        outputs = [self.aggregation.output(network.layers, lifted, None, table) for network in self.networks]
        return np.mean([np.asarray(output, np.float64) for output in outputs], axis=0)

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"a model with the aggregation {self.aggregation!r} cannot be saved or exported: its code is not in the "
            "file. Save network_ (its weights and biases), or register a predictor with "
            "abnet.model.deployment.deploy."
        )
