"""`Layers`: one deterministic network, layer by layer: a MAP or drawn network, BinaryConnect or BNN."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.predictor import Arrays, Predictor
from abnet.model.predictors.stored_arrays import check_array, check_names
from abnet.model.predictors.stored_networks import check_words
from abnet.networks.bam import BAM, contiguous, sgn
from abnet.networks.codebook import nearest_word
from abnet.utils.coded_layer import CodedLayer
from abnet.utils.coded_rows import CodedRows

__all__ = ["Affine", "Layers", "Ramp", "Step", "first_nonnegative"]


@dataclass(frozen=True, eq=False)
class Affine:
    """``(a - centre) · scale + shift`` for each unit; the output layer.

    Centre and shift are separate, so that a = centre gives exactly the shift, as in evaluation mode.
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

    def constants(self) -> dict[str, NDArray[Any]]:
        """The constants by their names in a file."""
        return {"centres": self.centres, "scales": self.scales, "shifts": self.shifts}


@dataclass(frozen=True, eq=False)
class Ramp:
    """``max(0, affine(a))``: BinaryConnect's hidden units."""

    affine: Affine

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rectified value of pre-activations (n, units)."""
        return np.maximum(self.affine(a), 0.0)

    def constants(self) -> dict[str, NDArray[Any]]:
        """The constants by their names in a file."""
        return self.affine.constants()


@dataclass(frozen=True, eq=False)
class Step:
    """+1 where ``flip · a ≥ threshold``, else -1: BNN's hidden units and all units of a sign network."""

    flips: NDArray[np.int8]
    thresholds: NDArray[np.float64]

    @staticmethod
    def from_affine(affine: Affine) -> "Step":
        """``sgn(affine(a))`` as a threshold test, equal to it for every float64 number a, ties included.

        In exact arithmetic the threshold is ``μ - β sqrt(σ² + ε)/γ``, reversed for γ < 0. Rounding can put it on the
        wrong side of a tie, so the smallest float that passes is found by search. A unit with γ = 0 is constant.
        """
        flips = sgn(affine.scales)
        return Step(flips.astype(np.int8), first_nonnegative(lambda a: affine(flips * a), len(flips)))

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ±1 for pre-activations (n, units)."""
        return np.where(self.flips * a >= self.thresholds, 1.0, -1.0)

    def constants(self) -> dict[str, NDArray[Any]]:
        """The constants by their names in a file."""
        return {"flips": self.flips, "thresholds": self.thresholds}


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
    # Throughout, function(low) < 0 <= function(high), at the infinities by convention.
    low = np.full(units, -infinity)
    high = np.full(units, infinity)
    while np.any(high - 1 > low):
        # ⌊(low + high)/2⌋ without overflow.
        middle = (low & high) + ((low ^ high) >> 1)
        # A finished unit may stand at -inf, which does not pass.
        with np.errstate(over="ignore", invalid="ignore"):
            passed = function(_float_at(middle)) >= 0
        low = np.where(passed, low, middle)
        high = np.where(passed, middle, high)
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
class Layers(Predictor):
    """A deterministic network: scores, no probabilities. Any width and depth.

    A network of steps (`from_network`) outputs signs: its score is ±1, or 1 for the class that it decodes to of several
    and 0 for the others. With an affine output layer (BinaryConnect, BNN) the score is real: its sign is the label of
    two classes, and of several the largest wins.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
        Anything binary is stored as int8.
    units : tuple of Affine, Ramp or Step
        What each layer does with ``W_k h``: `Ramp` or `Step` in the hidden layers, `Step` or `Affine` at the output.
    words : int8 array (K, c), optional
        Code word of each of several classes, for steps at the output.

    Examples
    --------
    >>> W_1, W_2 = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> xor = Layers.from_network(BAM((W_1, W_2), (np.array([-0.5, 1.5]), np.array([-1.0]))))
    >>> xor.scores([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([-1.,  1.,  1., -1.])
    """

    weights: tuple[NDArray[Any], ...]
    units: tuple[Affine | Ramp | Step, ...]
    words: NDArray[np.int8] | None = None
    shares: ClassVar[bool] = False
    coded_block: ClassVar[int] = 4096

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.units):
            raise ValueError(f"each weight matrix needs its units; got {len(self.weights)} and {len(self.units)}.")
        object.__setattr__(self, "weights", tuple(map(_compact, self.weights)))
        if isinstance(self.units[-1], Step):
            check_words(self.words, len(self.weights[-1]))
        elif self.words is not None or len(self.weights[-1]) == 2:
            raise ValueError("an affine output layer has one output for two classes, or one for each of several.")

    @staticmethod
    def from_network(network: BAM, words: NDArray[np.int8] | None = None) -> "Layers":
        """The sign network ``F_B``, in float64: the MAP network of an aggregation, or one drawn from it.

        ``W h + b ≥ 0`` exactly where ``W h ≥ -b``: rounding never moves a sum to the other side of zero.
        """
        exact = contiguous(network)
        units = tuple(Step(np.ones(len(b), np.int8), -b) for b in exact.biases)
        return Layers(exact.weights, units, words)

    @staticmethod
    def from_arrays(arrays: Arrays) -> "Layers":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        depth = sum(name.startswith("weights_") for name in arrays)
        kinds = [_kind_of_units(arrays, k, depth) for k in range(1, depth + 1)]
        names = []
        for k, kind in enumerate(kinds, start=1):
            names.append(f"weights_{k}")
            names += [f"{constant}_{k}" for constant in _UNITS[kind]]
        words = arrays.get("words")
        if words is not None:
            names.append("words")
        check_names(arrays, tuple(names))
        weights = tuple(_checked_weights(arrays, f"weights_{k}") for k in range(1, depth + 1))
        shapes = [W.shape for W in weights]
        if not shapes or [rows for rows, _ in shapes[:-1]] != [columns for _, columns in shapes[1:]]:
            raise ValueError(f"the arrays of the layers do not fit together: (outputs, inputs) are {shapes}.")
        units = tuple(_checked_units(arrays, kind, k, len(weights[k - 1])) for k, kind in enumerate(kinds, start=1))
        return Layers(weights, units, words)

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
        if self.words is not None:
            return len(self.words)
        return max(len(self.weights[-1]), 2)

    @property
    def network(self) -> BAM | None:
        """The sign network; None where units are not plain signs."""
        biases = [-u.thresholds for u in self.units if isinstance(u, Step) and (u.flips > 0).all()]
        if len(biases) < len(self.units) or not all(np.isfinite(b).all() for b in biases):
            return None
        return BAM(tuple(W.astype(np.float64) for W in self.weights), tuple(biases))

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The outputs, or a one for the class of the nearest code word."""
        return self._above(X @ self.weights[0].astype(np.float64).T, np.isfinite(X).all(axis=1))

    def coded_scorer(self, counts: tuple[int, ...]) -> Callable[[CodedRows], NDArray[np.float64]]:
        """`score_rows` of coded rows; what the codes add to the first layer's sums is looked up."""
        W = self.weights[0].astype(np.float64)
        layer = CodedLayer(W, np.zeros(len(W)), counts)
        return lambda rows: self._above(layer.sums(rows), np.isfinite(rows.features).all(axis=1))

    def _above(self, sums: NDArray[np.float64], finite: Any) -> NDArray[np.float64]:
        """Scores from the first layer's sums."""
        h = self.units[0](sums)
        for W, units in zip(self.weights[1:], self.units[1:], strict=True):
            h = units(h @ W.astype(np.float64).T)
        if self.words is not None:
            h = np.eye(len(self.words))[nearest_word(self.words, h)]
        # A step would hide a NaN of the input from the caller.
        scores = np.where(finite[:, None], h, np.nan)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and unit constants by layer, and the words; steps have thresholds, the others centres."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.words is not None:
            arrays["words"] = self.words
        for k, (W, units) in enumerate(zip(self.weights, self.units, strict=True), start=1):
            arrays[f"weights_{k}"] = W
            arrays |= {f"{name}_{k}": constant for name, constant in units.constants().items()}
        return arrays


def _compact(W: NDArray[Any]) -> NDArray[Any]:
    """Binary weights as int8, others as float64."""
    if np.all(np.abs(W) == 1):
        return W.astype(np.int8)
    return W.astype(np.float64)


def _kind_of_units(arrays: Arrays, k: int, depth: int) -> Any:
    """The units of layer k: steps have flips; otherwise the last layer is affine and the others are ramps."""
    if f"flips_{k}" in arrays:
        return Step
    if k < depth:
        return Ramp
    return Affine


def _checked_weights(arrays: Arrays, name: str) -> NDArray[Any]:
    W = arrays[name]
    if W.ndim != 2 or 0 in W.shape:
        raise ValueError(f"the array {name} must be a matrix, but has the shape {W.shape}.")
    if W.dtype != np.int8:
        check_array(arrays, name, W.shape)
    elif not np.all(np.abs(W) == 1):
        raise ValueError(f"the array {name} holds values other than -1 and +1.")
    return W


def _checked_units(arrays: Arrays, kind: Any, k: int, width: int) -> Any:
    constants = {name: arrays[f"{name}_{k}"] for name in _UNITS[kind]}
    if kind is Step:
        check_array(arrays, f"flips_{k}", (width,), np.int8)
        thresholds = constants["thresholds"]
        # The threshold of a unit that is constant is infinite, which `check_array` refuses.
        if thresholds.shape != (width,) or thresholds.dtype != np.float64 or np.isnan(thresholds).any():
            raise ValueError(f"the array thresholds_{k} must hold {width} float64 numbers.")
        return Step(**constants)
    for name in constants:
        check_array(arrays, f"{name}_{k}", (width,))
    affine = Affine(**constants)
    if kind is Ramp:
        return Ramp(affine)
    return affine
