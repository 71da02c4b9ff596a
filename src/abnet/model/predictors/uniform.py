"""`UniformPredictor`: stochastic ABNet on fixed draws of the representations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.leading import leading_scores
from abnet.model.predictors.predictor import Arrays, Predictor
from abnet.model.predictors.stored_arrays import check_array, check_names, check_table
from abnet.networks import uniform
from abnet.networks.bam import BAM, contiguous

__all__ = ["UniformPredictor"]


@dataclass(frozen=True, eq=False)
class UniformPredictor(Predictor):
    """Stochastic ABNet on fixed draws: ``F(x) = Σ_s H D P_1(x) / Σ_s D P_1(x)``.

    The sums are over n representations of the leading layer. Equal to the paper's layer-normalised pass on the same
    draws, at the same cost for every depth. It is not ``F_A``, and a bound computed from it is an estimate.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
        The leading hidden layer.
    S : int8 array (n, d_1)
        Its drawn representations.
    H, log_d : arrays (n,)
        `abnet.networks.uniform.regions`.

    Examples
    --------
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> UniformPredictor.from_network(net, np.random.default_rng(0), n_samples=4).votes([[3.0, 3.0], [-1.0, -2.0]])
    array([1, 0])
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    S: NDArray[np.int8]
    H: NDArray[np.float64]
    log_d: NDArray[np.float64]

    @staticmethod
    def from_network(network: BAM, rng: np.random.Generator, *, n_samples: int) -> "UniformPredictor":
        """Draw once, and collapse all layers after the first into two vectors, in float64."""
        exact = contiguous(network)
        draws = uniform.draw(rng, network.sizes, n_samples, np.float64)
        H, log_D = uniform.regions(exact.layers, draws)
        return UniformPredictor(exact.weights[0], exact.biases[0], draws[0].astype(np.int8), H, log_D)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "UniformPredictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "S", "H", "log_d"))
        if arrays["W"].ndim != 2 or arrays["S"].ndim != 2 or 0 in arrays["W"].shape + arrays["S"].shape:
            raise ValueError("the arrays W and S must be tables.")
        width = len(arrays["W"])
        n = len(arrays["S"])
        check_array(arrays, "W", arrays["W"].shape)
        check_array(arrays, "b", (width,))
        check_array(arrays, "S", (n, width), np.int8)
        check_table(arrays, "H", (n,))
        check_array(arrays, "log_d", (n,))
        if not (np.abs(arrays["S"]) == 1).all():
            raise ValueError("the array S must hold signs, -1 and +1.")
        return UniformPredictor(**arrays)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    @property
    def n_classes(self) -> int:
        """Two."""
        return 2

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``Σ_s H D P_1 / Σ_s D P_1``."""
        z = leading_scores(np.column_stack([self.W, self.b]), X)
        # A quotient of sums may leave [-1, 1] by rounding.
        return np.clip(uniform.read(z, self.S.astype(np.float64), self.H, self.log_d), -1, 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``S``, ``H``, ``log_d``."""
        return {"W": self.W, "b": self.b, "S": self.S, "H": self.H, "log_d": self.log_d}
