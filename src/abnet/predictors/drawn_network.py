"""One deterministic network drawn from a posterior, as a predictor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.bounds.single_network import DrawnCertificate
from abnet.codebook import code_words, nearest_word
from abnet.predictors.paths import checked_layers, contiguous, layered_arrays
from abnet.predictors.predictor import ModelInfo, Predictor

__all__ = ["DrawnNetwork"]


@dataclass(frozen=True, eq=False)
class DrawnNetwork(Predictor):
    """A plain binary activated network: no vote, no sampling at prediction, no factor 2 in its certificate.

    Its scores are the outputs ±1, or 1 for the class it decodes to of several and 0 for the others, and so no
    probabilities. Any width and depth.

    Parameters
    ----------
    network : BAM
        The drawn network; held in float64.

    Examples
    --------
    >>> W_1, W_2 = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> xor = DrawnNetwork(BAM((W_1, W_2), (np.array([-0.5, 1.5]), np.array([-1.0]))))
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([-1,  1,  1, -1])
    """

    network: BAM
    shares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if (self.network.sizes[-1] == 1) != (self.info.labels.n_classes == 2):
            outputs, labels = self.network.sizes[-1], self.info.labels.n_classes
            raise ValueError(f"{outputs} outputs do not tell the classes apart: there are {labels} labels.")
        super().__post_init__()
        object.__setattr__(self, "network", contiguous(self.network))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.info.labels.n_classes

    @property
    def certificate(self) -> DrawnCertificate | None:
        """What is promised for this network; None where no theorem covers what was done."""
        certificate = self.info.certificate
        return certificate if isinstance(certificate, DrawnCertificate) else None

    def with_certificate(self, certificate: DrawnCertificate | None) -> "DrawnNetwork":
        """The same network with another certificate."""
        return replace(self, info=replace(self.info, certificate=certificate))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F_B(x)`` in {-1, +1}, or a one for the class of the nearest code word."""
        outputs, finite = self.network.predict(X), np.asarray(np.isfinite(X).all(axis=1))
        # A sign would hide a NaN of the input from the caller.
        if outputs.ndim == 1:
            return np.where(finite, outputs, np.nan)
        words = code_words(self.n_classes, outputs.shape[1])
        return np.where(finite[:, None], np.eye(self.n_classes)[nearest_word(words, outputs)], np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k`` and ``b_k`` by layer."""
        return layered_arrays(W=self.network.weights, b=self.network.biases)

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "DrawnNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        weights, biases = checked_layers(arrays, several=info.labels.n_classes > 2)
        return DrawnNetwork(BAM(weights, biases), info=info)
