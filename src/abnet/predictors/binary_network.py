"""BinaryConnect and BNN as deployed predictors: binary weights, and units with batch normalisation folded in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.arrays import check_array, check_names
from abnet.bam import sgn
from abnet.predictors.predictor import ModelInfo, Predictor, check_chain, check_matrix

__all__ = ["Affine", "BinaryNetwork", "Ramp", "Step", "first_nonnegative"]


@dataclass(frozen=True, eq=False)
class Affine:
    """``(a - centre) · scale + shift`` for each unit; the output layer.

    The centre is kept apart from the shift so that a = centre gives exactly the shift, as in evaluation mode.
    """

    centres: NDArray[np.float64]
    scales: NDArray[np.float64]
    shifts: NDArray[np.float64]

    @staticmethod
    def from_normalisation(mean: Any, variance: Any, gamma: Any, beta: Any, *, epsilon: float) -> "Affine":
        """Batch normalisation with fixed statistics: ``(a - μ) · γ/sqrt(σ² + ε) + β``."""
        mean, variance, gamma, beta = (np.asarray(v, np.float64) for v in (mean, variance, gamma, beta))
        return Affine(mean, gamma / np.sqrt(variance + epsilon), beta)

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the affine value of pre-activations (n, units)."""
        return (a - self.centres) * self.scales + self.shifts


@dataclass(frozen=True, eq=False)
class Ramp:
    """``max(0, affine(a))``: BinaryConnect's hidden units."""

    affine: Affine

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rectified value of pre-activations (n, units)."""
        return np.maximum(self.affine(a), 0.0)


@dataclass(frozen=True, eq=False)
class Step:
    """+1 where ``flip · a ≥ threshold``, else -1: BNN's hidden units, without a multiplication."""

    flips: NDArray[np.int8]
    thresholds: NDArray[np.float64]

    @staticmethod
    def from_affine(affine: Affine) -> "Step":
        """``sgn(affine(a))`` as a threshold test, equal to it for every float64 number a, ties included.

        In real numbers the threshold is ``μ - β sqrt(σ² + ε)/γ``, reversed for γ < 0. Rounding can put that on the
        wrong side of a tie, so the first float that passes is searched for. A unit with γ = 0 is constant.
        """
        flips = sgn(affine.scales)
        return Step(flips.astype(np.int8), first_nonnegative(lambda a: affine(flips * a), len(flips)))

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ±1 for pre-activations (n, units)."""
        return np.where(self.flips * a >= self.thresholds, 1.0, -1.0)


def first_nonnegative(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], units: int
) -> NDArray[np.float64]:
    """Smallest finite float64 t of each unit with ``function(t) ≥ 0``, for a nondecreasing function; +inf if none.

    Bisection over the floats themselves, ordered by their bit patterns: 64 turns, exact by construction.

    Examples
    --------
    >>> first_nonnegative(lambda t: t - np.array([0.1, -3.0]), 2)
    array([ 0.1, -3. ])
    >>> first_nonnegative(lambda t: 0 * t - 1, 1)
    array([inf])
    """
    infinity = np.float64(np.inf).view(np.int64)
    low, high = (
        np.full(units, -infinity),
        np.full(units, infinity),
    )  # function(low) < 0 <= function(high), by convention
    while np.any(high - 1 > low):
        middle = (low & high) + ((low ^ high) >> 1)  # ⌊(low + high)/2⌋ without overflow
        with np.errstate(over="ignore", invalid="ignore"):  # a finished unit may stand at -inf, which does not pass
            passed = function(_float_at(middle)) >= 0
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return _float_at(high)


def _float_at(position: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the float at a signed distance, counted in floats, from zero."""
    return np.copysign(np.abs(position).view(np.float64), position)


_UNITS: dict[type, tuple[str, ...]] = {
    Affine: ("centres", "scales", "shifts"),
    Ramp: ("centres", "scales", "shifts"),
    Step: ("flips", "thresholds"),
}
"""Constants of each kind of unit, by their names in a file."""


@dataclass(frozen=True, eq=False)
class BinaryNetwork(Predictor):
    """BinaryConnect or BNN with batch normalisation folded into each unit; scores, no probabilities.

    One output, whose sign is the label of two classes, or one for each of several, of which the largest wins.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
        In {-1, +1} and int8; real weights only for stochastic BinaryConnect. Anything binary is stored as int8.
    units : tuple of Affine, Ramp or Step
        What each layer does with ``W_k h``: `Ramp` or `Step` in the hidden layers, `Affine` at the output.

    Examples
    --------
    >>> step = Step(np.array([1, -1], np.int8), np.array([0.5, 0.5]))
    >>> output = Affine(np.zeros(1), np.array([0.5]), np.zeros(1))
    >>> network = BinaryNetwork((np.array([[1, 1], [1, 1]]), np.array([[1, 1]])), (step, output))
    >>> network.decision_function([[1.0, 1.0], [0.0, 0.0]])
    array([ 0., -1.])
    >>> network.predict([[1.0, 1.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    weights: tuple[NDArray[Any], ...]
    units: tuple[Affine | Ramp | Step, ...]
    shares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != len(self.units):
            raise ValueError(f"each weight matrix needs its units; got {len(self.weights)} and {len(self.units)}.")
        object.__setattr__(self, "weights", tuple(map(_compact, self.weights)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """``(d_0, d_1, …, d_L)``."""
        return (self.n_inputs, *(len(W) for W in self.weights))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(len(self.weights[-1]), 2)

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The real-valued outputs, (rows,) or (rows, K)."""
        h = X
        for W, units in zip(self.weights, self.units, strict=True):
            h = units(h @ W.astype(np.float64).T)
        # A step would hide a NaN of the input from the caller.
        finite = np.isfinite(X).all(axis=1, keepdims=True)
        scores = np.where(finite, h, np.nan)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and unit constants by layer; hidden units with thresholds are BNN's, with centres BinaryConnect's."""
        found = {}
        for k, (W, units) in enumerate(zip(self.weights, self.units, strict=True), start=1):
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
        weights = tuple(_checked_weights(arrays, f"weights_{k}") for k in range(1, depth + 1))
        check_chain([(W.shape[0], W.shape[1]) for W in weights], info.labels.n_classes)
        units = tuple(_checked_units(arrays, kind, k, len(weights[k - 1])) for k, kind in enumerate(kinds, start=1))
        return BinaryNetwork(weights, units, info=info)


def _compact(W: NDArray[Any]) -> NDArray[Any]:
    """Binary weights as int8, others as float64."""
    return W.astype(np.int8) if np.all(np.abs(W) == 1) else W.astype(np.float64)


def _checked_weights(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    W = check_matrix(arrays, name, (np.float64, np.int8))
    if W.dtype == np.int8 and not np.all(np.abs(W) == 1):
        raise ValueError(f"the array {name} holds values other than -1 and +1.")
    return W


def _checked_units(arrays: Mapping[str, NDArray[Any]], kind: Any, k: int, width: int) -> Any:
    constants = [arrays[f"{name}_{k}"] for name in _UNITS[kind]]
    for name, array in zip(_UNITS[kind], constants, strict=True):
        if name == "thresholds":  # infinite for a unit that is constant
            if array.shape != (width,) or array.dtype != np.float64 or np.isnan(array).any():
                raise ValueError(f"the array thresholds_{k} must hold {width} float64 numbers.")
        else:
            check_array(arrays, f"{name}_{k}", (width,), np.int8 if name == "flips" else np.float64)
    return Ramp(Affine(*constants)) if kind is Ramp else kind(*constants)
