"""The comparison methods as deployed predictors, NumPy and SciPy alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.baselines.folded import Affine, FoldedNetwork, Ramp, Step
from abnet.baselines.posterior_average import ebp_output
from abnet.compact import ModelInfo, Predictor
from abnet.stored_arrays import check_array, check_names

__all__ = ["BinaryNetwork", "PosteriorAverage"]

_UNITS: dict[type, tuple[str, ...]] = {
    Affine: ("centres", "scales", "shifts"),
    Ramp: ("centres", "scales", "shifts"),
    Step: ("flips", "thresholds"),
}


@dataclass(frozen=True, eq=False)
class PosteriorAverage(Predictor):
    """EBP's posterior-averaged output.

    Parameters
    ----------
    network : BAM
        Posterior means.
    e : float
        Extra variance of the layers above the first.
    """

    network: BAM
    e: float

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``v_L``, in [-1, 1]."""
        return ebp_output(self.network, X, e=self.e)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layers ``V_k = (M_k, b_k)`` and e."""
        layers = {f"layer_{k}": np.ascontiguousarray(V) for k, V in enumerate(self.network.layers, start=1)}
        return {**layers, "e": np.array([self.e])}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "PosteriorAverage":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names = tuple(f"layer_{k}" for k in range(1, len(arrays)))
        check_names(arrays, (*names, "e"))
        check_array(arrays, "e", (1,))
        for name in names:
            check_array(arrays, name, _matrix_shape(arrays, name), arrays[name].dtype)
        layers = tuple(arrays[name] for name in names)
        _check_chain([(V.shape[0], V.shape[1] - 1) for V in layers])
        return PosteriorAverage(BAM.from_layers(layers), float(arrays["e"][0]), info=info)


@dataclass(frozen=True, eq=False)
class BinaryNetwork(Predictor):
    """BinaryConnect or BNN with batch normalisation folded into each unit; scores, no probabilities.

    Parameters
    ----------
    network : FoldedNetwork
    """

    network: FoldedNetwork
    shares: ClassVar[bool] = False

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The real-valued output."""
        return self.network.decision_function(X)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and unit constants by layer; hidden units with thresholds are BNN's, with centres BinaryConnect's."""
        found = {}
        for k, (W, units) in enumerate(zip(self.network.weights, self.network.units, strict=True), start=1):
            found[f"weights_{k}"] = W
            constants = units.affine if isinstance(units, Ramp) else units
            found |= {f"{name}_{k}": np.asarray(getattr(constants, name)) for name in _UNITS[type(units)]}
        return found

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "BinaryNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        depth = sum(name.startswith("weights_") for name in arrays)
        kinds: list[Any] = [Step if f"flips_{k}" in arrays else Ramp for k in range(1, depth)] + [Affine] * (depth > 0)
        names = [
            name
            for k, kind in enumerate(kinds, start=1)
            for name in (f"weights_{k}", *(f"{u}_{k}" for u in _UNITS[kind]))
        ]
        check_names(arrays, tuple(names))
        weights = tuple(_weights(arrays, f"weights_{k}") for k in range(1, depth + 1))
        _check_chain([(W.shape[0], W.shape[1]) for W in weights])
        units = tuple(_units(arrays, kind, k, len(weights[k - 1])) for k, kind in enumerate(kinds, start=1))
        return BinaryNetwork(FoldedNetwork(weights, units), info=info)


def _weights(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    shape = _matrix_shape(arrays, name)
    check_array(arrays, name, shape, np.int8 if arrays[name].dtype == np.int8 else np.float64)
    if arrays[name].dtype == np.int8 and not np.all(np.abs(arrays[name]) == 1):
        raise ValueError(f"the array {name} holds values other than -1 and +1.")
    return arrays[name]


def _units(arrays: Mapping[str, NDArray[Any]], kind: Any, k: int, width: int) -> Any:
    constants = [arrays[f"{name}_{k}"] for name in _UNITS[kind]]
    for name, array in zip(_UNITS[kind], constants, strict=True):
        if name == "thresholds":  # infinite for a unit that is constant
            if array.shape != (width,) or array.dtype != np.float64 or np.isnan(array).any():
                raise ValueError(f"the array thresholds_{k} must hold {width} float64 numbers.")
        else:
            check_array(arrays, f"{name}_{k}", (width,), np.int8 if name == "flips" else np.float64)
    return Ramp(Affine(*constants)) if kind is Ramp else kind(*constants)


def _matrix_shape(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[int, ...]:
    if arrays[name].ndim != 2 or 0 in arrays[name].shape:
        raise ValueError(f"the array {name} must be a matrix, but has the shape {arrays[name].shape}.")
    return arrays[name].shape


def _check_chain(shapes: list[tuple[int, int]]) -> None:
    """Refuse layers that do not fit together, or more than one output."""
    outputs, inputs = [rows for rows, _ in shapes], [columns for _, columns in shapes]
    if not shapes or outputs[-1] != 1 or outputs[:-1] != inputs[1:]:
        raise ValueError(f"the layers do not fit together: (outputs, inputs) are {shapes}.")
